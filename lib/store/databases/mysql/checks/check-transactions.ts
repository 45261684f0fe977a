import { query } from '../../../core/statement.js';
import { ok, problem, unknown, type Check, type Patient, type Verdict } from '../../../doctor/check.js';

const MAX_SECONDS = 5;

// The columns of InnoDB are in the time zone of the server, whatever that of the session is. The text of a statement
// can contain confidential values, so only its first word is read.
const SERVER_TIME = `CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')`;

const LONG_TRANSACTIONS = `
  SELECT trx_mysql_thread_id AS connection, TIMESTAMPDIFF(SECOND, trx_started, ${SERVER_TIME}) AS seconds,
         trx_rows_modified AS modified, SUBSTRING_INDEX(TRIM(trx_query), ' ', 1) AS verb
  FROM information_schema.innodb_trx
  WHERE trx_started < ${SERVER_TIME} - INTERVAL ${MAX_SECONDS} SECOND AND trx_mysql_thread_id <> CONNECTION_ID()
  ORDER BY trx_started
  LIMIT 10`;

// A counter that is switched off keeps its last value.
const HISTORY_LENGTH = `
  SELECT count AS length
  FROM information_schema.innodb_metrics
  WHERE name = 'trx_rseg_history_len' AND time_enabled IS NOT NULL AND time_disabled IS NULL`;

interface LongTransaction {
  readonly connection: number;
  readonly seconds: number;
  readonly modified: number;
  readonly verb: string | null;
}

/** Transactions that keep the server from removing finished jobs from its indexes. */
export const checkTransactions: Check = {
  name: 'transactions',
  needs: 'It needs the privilege PROCESS: GRANT PROCESS ON *.* TO <account>;',
  run: async (patient) => [...(await longTransactions(patient)), await historyLength(patient)],
};

async function longTransactions({ database }: Patient): Promise<Verdict[]> {
  const found = await database.runIdempotent(() => query<LongTransaction>(LONG_TRANSACTIONS));
  if (found.length === 0) return [ok(`no transaction is older than ${MAX_SECONDS} s`)];
  return found.map(({ connection, seconds, modified, verb }) => {
    const age = `${seconds} s old and has changed ${modified} rows`;
    if (Number(connection) === 0) return problem(`a prepared XA transaction is ${age}`, END_PREPARED);
    const doing = verb ? `runs ${verb}` : 'is idle in it';
    return problem(`connection ${connection} ${doing}: its transaction is ${age}`, LONG(connection));
  });
}

/** A prepared XA transaction has no connection. Its id is 0. */
export const END_PREPARED = 'Its coordinator has not ended it. Run: XA RECOVER; then XA COMMIT or XA ROLLBACK.';
const LONG = (connection: number) =>
  'The indexes keep the entries of all jobs that ended meanwhile, so claims get slower. Commit before slow work, or end ' +
  `it: KILL ${connection}; A worker with \`claim: 'lock'\` has one on purpose.`;

async function historyLength({ database, maxHistoryLength }: Patient): Promise<Verdict> {
  const [row] = await database.runIdempotent(() => query<{ length: number }>(HISTORY_LENGTH));
  if (!row)
    return unknown(
      'the history list has an unknown length',
      'SET GLOBAL innodb_monitor_enable = trx_rseg_history_len;',
    );
  const facts = `the history list has ${row.length} entries`;
  if (Number(row.length) < maxHistoryLength) return ok(facts);
  const wayOut =
    'The server removes deleted rows more slowly than they arise. End long transactions, also those of backups and reports.';
  return problem(facts, wayOut);
}
