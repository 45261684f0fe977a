import { readServer, readVariables, serverProblems } from '../mysql-checks.js';
import { note, ok, problem, type LightCheck, type Verdict } from '../../../doctor/check.js';

// The tests run on these lines.
const TESTED = [/^9\.7\./, /(^|-)10\.11\..*mariadb/i, /(^|-)11\.8\..*mariadb/i];

/** The version of the server, and the settings without which the queue cannot work, or works more slowly. */
export const checkServerSettings: LightCheck = {
  name: 'server',
  isLight: true,
  async run({ database, largestPayloadBytes }) {
    const server = await readServer(database);
    const { version, packetBytes, binlogFormat, dialect } = server;
    const problems = serverProblems(server, largestPayloadBytes);
    const name = dialect.name === 'mariadb' ? 'MariaDB' : 'MySQL';
    const binlog = binlogFormat === undefined ? 'no binary log' : `binlog_format = ${binlogFormat}`;
    const facts = `${name} ${version}, max_allowed_packet = ${packetBytes}, ${binlog}`;
    const verdicts = problems.map((text) => problemOf(text));
    if (problems.length === 0) verdicts.push(versionVerdict(version, facts));
    return [...verdicts, ...(await readOnly(database)), ...(await rowImage(database, binlogFormat))];
  },
};

/** The text has an expectation, and the way out as its last sentence. */
function problemOf(text: string): Verdict {
  const end = text.lastIndexOf('. ');
  return problem(text.slice(0, end), `${text.slice(end + 2)}.`);
}

function versionVerdict(version: string, facts: string): Verdict {
  if (TESTED.some((line) => line.test(version))) return ok(facts);
  return note(facts, 'This release of the library was not tested with this version. It is not too old.');
}

type Reader = Parameters<typeof readVariables>[0];

async function readOnly(database: Reader): Promise<Verdict[]> {
  const { read_only: value } = await readVariables(database, ['read_only']);
  // Newer releases of MariaDB have more values than ON.
  if (value === undefined || value === 'OFF') return [];
  const wayOut =
    'The server is a replica, or an administrator has made it read-only. Connect to the primary server, or set read_only = OFF.';
  return [problem(`read_only = ${value}`, wayOut)];
}

async function rowImage(database: Reader, binlogFormat: string | undefined): Promise<Verdict[]> {
  if (binlogFormat === undefined) return [];
  const { binlog_row_image: value } = await readVariables(database, ['binlog_row_image']);
  if (value !== 'FULL') return [];
  const wayOut =
    'The library sets MINIMAL in its own sessions if the account may. Large payloads then take less of the binary log: ' +
    'docs/guides/costs.md.';
  return [note('binlog_row_image = FULL', wayOut)];
}
