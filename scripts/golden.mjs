// The golden files: each statement that a verb sends to a server, as the contract suites record them. `npm test` compares
// them, `npm run golden` rewrites them.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const SUITES = join(root, 'test/contract');
const FOLDER = join(root, 'test/golden');
const WAY_OUT =
  'If you meant this, write the files with `npm run golden`, and say in the commit why a statement changed.';
const MOST_SHOWN = 20;

const END = '\n;\n';
const AT_TIMES = ', at times';
const ONLY_MARIADB = ', only on MariaDB';
const ONLY_MYSQL = ', only on MySQL';

const HOW = '`npm run golden` writes this file. `?` is a value, `:now` the clock of the server. A list has one value.';
const RARE = `It leaves the sections "${AT_TIMES.slice(2)}" alone: their statements depend on the time or on a race.`;
const INTRODUCTIONS = {
  mysql: [HOW, RARE],
  mariadb: ['`npm run golden` writes this file. It has the differences from mysql.sql.'],
  sqlite: [HOW, RARE],
};

/**
 * The statements of verbs on one server, each with the suite that sent it, or with the empty text if it comes from a
 * file. A verb of a golden file may end with AT_TIMES.
 *
 * @typedef {Map<string, Map<string, string>>} Verbs
 */

/**
 * Compares the records of a run with the golden files. A run of all contract suites sends exactly the statements of a
 * file, a run of some of them sends no other ones.
 *
 * @param {string} folder the records of test/support/recorded-store.ts
 * @param testResults the test files in the JSON report of Vitest
 */
export async function compareStatements(folder, testResults) {
  const golden = await readGolden();
  const comparisons = [];
  for (const [server, verbs] of await readRecords(folder)) {
    const isWhole = await haveAllPassed(server, testResults);
    const differences = differencesOf(verbs, golden[server], isWhole);
    const hasChanged = isWhole ? hasChangedVerb(differences) : differences.length > 0;
    comparisons.push({ server, isWhole, verbs: verbs.size, statements: sizeOf(verbs), differences, hasChanged });
  }
  return comparisons;
}

/** Rewrites the files of the servers on which all contract suites have passed. Returns the names of these servers. */
export async function writeStatements(folder, testResults) {
  const golden = await readGolden();
  const written = [];
  for (const [server, verbs] of await readRecords(folder)) {
    if (!(await haveAllPassed(server, testResults))) continue;
    golden[server] = withRareOnes(verbs, golden[server]);
    written.push(server);
  }
  const files = { ...golden, mariadb: toDifferences(golden.mysql, golden.mariadb) };
  for (const [server, verbs] of Object.entries(files)) {
    const introduction = INTRODUCTIONS[server].map((line) => `-- ${line}\n`).join('');
    await writeFile(join(FOLDER, `${server}.sql`), `${introduction}\n${format(verbs)}`);
  }
  return written;
}

/** The comparison for the output of `npm test`. */
export function describeComparison({ server, isWhole, verbs, statements, differences }) {
  const scope = isWhole ? '' : ', without those of the suites that did not run or failed';
  const summary = `golden file, ${server}: ${statements} statements of ${verbs} verbs${scope}`;
  if (differences.length === 0) return summary;
  const shown = differences.slice(0, MOST_SHOWN).map(({ verb, problem, text }) => `${verb} ${problem}:\n${text}\n`);
  const more = differences.length - shown.length;
  if (more > 0) shown.push(`and ${more} more: \`npm run golden\`, then \`git diff test/golden\`\n`);
  return `${summary}, ${differences.length} differ from test/golden\n\n${shown.join('\n')}\n${WAY_OUT}`;
}

function differencesOf(verbs, golden, isWhole) {
  const differences = [];
  const everywhere = new Set([...golden.values()].flatMap((texts) => [...texts.keys()]));
  for (const verb of sorted([...verbs.keys(), ...golden.keys()].map(withoutMark))) {
    const [sent, always, rare] = [verbs.get(verb), golden.get(verb), golden.get(verb + AT_TIMES)].map(
      (texts) => texts ?? new Map(),
    );
    for (const [text, file] of sent) {
      // What a process sends once, such as the INSERT of a commit lane, depends on the tests that have run before.
      const isKnown = always.has(text) || rare.has(text) || (!isWhole && everywhere.has(text));
      if (!isKnown)
        differences.push({
          verb,
          isNew: true,
          problem: `sends a statement that is new or has changed (${file})`,
          text,
        });
    }
    if (!isWhole) continue;
    for (const text of always.keys()) {
      if (!sent.has(text)) differences.push({ verb, isNew: false, problem: 'no longer sends this statement', text });
    }
  }
  return differences;
}

/**
 * Whether a verb sends a new text and no longer sends another one. A new text alone may come from a lock wait or a lost answer,
 * and a missing one from a race: the output shows them, and they do not fail the run.
 */
function hasChangedVerb(differences) {
  const verbsWith = (isNew) => new Set(differences.filter((one) => one.isNew === isNew).map(({ verb }) => verb));
  const missing = verbsWith(false);
  return [...verbsWith(true)].some((verb) => missing.has(verb));
}

/** Whether the run includes all contract suites of the server, with all of their tests. */
async function haveAllPassed(server, testResults) {
  const suites = (await readdir(SUITES)).filter((file) => file.endsWith('.spec.ts'));
  const results = new Map(testResults.map(({ name, assertionResults }) => [relative(SUITES, name), assertionResults]));
  return suites.every((suite) =>
    results
      .get(suite)
      ?.filter(({ ancestorTitles }) => ancestorTitles[0]?.endsWith(` on ${server}`))
      .every(({ status }) => status === 'passed'),
  );
}

async function readRecords(folder) {
  const servers = new Map();
  for (const name of await readdir(folder)) {
    const lines = (await readFile(join(folder, name), 'utf8')).trimEnd().split('\n');
    for (const { server, verb, file, text } of lines.map((line) => JSON.parse(line))) {
      entry(entry(servers, server), verb).set(text, file);
    }
  }
  return servers;
}

function entry(map, key) {
  if (!map.has(key)) map.set(key, new Map());
  return map.get(key);
}

async function readGolden() {
  const [mysql, mariadb, sqlite] = await Promise.all(
    Object.keys(INTRODUCTIONS).map(async (server) => parse(await readFile(join(FOLDER, `${server}.sql`), 'utf8'))),
  );
  return { mysql, mariadb: fromDifferences(mysql, mariadb), sqlite };
}

/** A section per verb. */
function parse(file) {
  const verbs = new Map();
  for (const section of file.split(/^(?=-- )/m)) {
    const [heading, ...rest] = section.split('\n');
    const statements = rest.join('\n').split(END).slice(0, -1);
    for (const text of statements) entry(verbs, heading.slice(3)).set(text, '');
  }
  return verbs;
}

function format(verbs) {
  return sorted(verbs.keys())
    .map((verb) => [`-- ${verb}\n`, ...sorted(verbs.get(verb).keys()).map((text) => text + END)].join(''))
    .join('\n');
}

/** The golden file of MariaDB. */
function toDifferences(mysql, mariadb) {
  const differences = new Map();
  for (const verb of new Set([...mysql.keys(), ...mariadb.keys()])) {
    const [here, there] = [mysql.get(verb) ?? new Map(), mariadb.get(verb) ?? new Map()];
    for (const text of there.keys()) if (!here.has(text)) entry(differences, verb + ONLY_MARIADB).set(text, '');
    for (const text of here.keys()) if (!there.has(text)) entry(differences, verb + ONLY_MYSQL).set(text, '');
  }
  return differences;
}

function fromDifferences(mysql, differences) {
  const mariadb = new Map();
  for (const [verb, texts] of mysql) {
    const absent = differences.get(verb + ONLY_MYSQL);
    for (const text of texts.keys()) if (!absent?.has(text)) entry(mariadb, verb).set(text, '');
  }
  for (const [verb, texts] of differences) {
    if (!verb.endsWith(ONLY_MARIADB)) continue;
    for (const text of texts.keys()) entry(mariadb, verb.slice(0, -ONLY_MARIADB.length)).set(text, '');
  }
  return mariadb;
}

/** The recorded statements, of which those in a section AT_TIMES stay there, recorded or not. */
function withRareOnes(verbs, golden) {
  const written = new Map([...golden].filter(([verb]) => verb.endsWith(AT_TIMES)));
  for (const [verb, texts] of verbs) {
    for (const text of texts.keys()) if (!written.get(verb + AT_TIMES)?.has(text)) entry(written, verb).set(text, '');
  }
  return written;
}

function withoutMark(verb) {
  return verb.endsWith(AT_TIMES) ? verb.slice(0, -AT_TIMES.length) : verb;
}

function sizeOf(verbs) {
  return [...verbs.values()].reduce((sum, texts) => sum + texts.size, 0);
}

function sorted(texts) {
  return [...new Set(texts)].sort((a, b) => (a < b ? -1 : 1));
}
