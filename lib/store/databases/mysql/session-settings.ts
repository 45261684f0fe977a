import { UnsupportedDatabaseError } from '../../../job/errors.js';

/** The value of `sql_select_limit` with which no answer is cut. */
export const ALL_ROWS = '18446744073709551615';

// A server, by init_connect or by ignoring the handshake, and a proxy can give a session other values than the driver
// asked for. Texts would then be stored damaged, and answers would be cut.
const REQUIRED = {
  character_set_client: 'utf8mb4',
  character_set_connection: 'utf8mb4',
  character_set_results: 'utf8mb4',
  collation_connection: 'utf8mb4_bin',
  sql_mode: 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION',
  sql_select_limit: ALL_ROWS,
} as const;

const NAMES = Object.keys(REQUIRED) as (keyof typeof REQUIRED)[];

/** Assignments for SET SESSION. */
export const REQUIRED_SETTINGS = NAMES.map((name) =>
  name === 'sql_select_limit' ? `${name} = ${ALL_ROWS}` : `${name} = '${REQUIRED[name]}'`,
).join(', ');

/** The columns of a SELECT for `requireSettings`. */
export const SESSION_SETTINGS = NAMES.map((name) => `CAST(@@SESSION.${name} AS CHAR) AS ${name}`).join(', ');

/** Throws UnsupportedDatabaseError unless the session has taken the required settings over. */
export function requireSettings(row: Readonly<Record<string, unknown>> | undefined): void {
  const problems = NAMES.filter((name) => row?.[name] !== REQUIRED[name]).map(
    (name) => `expected ${name} = ${REQUIRED[name]}, got ${String(row?.[name])}`,
  );
  if (problems.length === 0) return;
  throw new UnsupportedDatabaseError(
    `The queue cannot work on this connection, whose session does not keep its settings: ${problems.join('; ')}. Let the ` +
      'proxy between the application and the server pass SET statements on.',
  );
}
