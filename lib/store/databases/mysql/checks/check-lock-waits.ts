import { query, type Work } from '../../../core/statement.js';
import { readVariables } from '../mysql-checks.js';
import { ok, problem, unknown, type Check, type Patient } from '../../../doctor/check.js';
import { END_PREPARED } from './check-transactions.js';

const WAITS_MYSQL = `
  SELECT l.object_schema AS db, l.object_name AS name, l.index_name AS index_name, b.trx_mysql_thread_id AS blocker
  FROM performance_schema.data_lock_waits w
  JOIN performance_schema.data_locks l ON l.engine_lock_id = w.requesting_engine_lock_id
  JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_engine_transaction_id
  WHERE l.object_schema = DATABASE()
  LIMIT 1000`;

const WAITS_MARIADB = `
  SELECT DATABASE() AS db, l.lock_table AS name, l.lock_index AS index_name, b.trx_mysql_thread_id AS blocker
  FROM information_schema.innodb_lock_waits w
  JOIN information_schema.innodb_locks l ON l.lock_id = w.requested_lock_id
  JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id
  LIMIT 1000`;

interface LockWait {
  readonly table: string;
  readonly index: string;
  readonly blocker: number;
}

interface LockWaitRow {
  readonly db: string;
  readonly name: string;
  readonly index_name: string | null;
  readonly blocker: number;
}

// The library waits for a lock for at most a second at a time, so no wait of its own is long. A transaction that blocks
// others in two reads, a second apart, is the problem.
const PAUSE_MS = 1_000;

/** Transactions that keep rows of the queue locked. */
export const checkLockWaits: Check = {
  name: 'lock waits',
  needs:
    'It needs the privilege PROCESS, and on MySQL SELECT on performance_schema: GRANT PROCESS ON *.* TO <account>; ' +
    'GRANT SELECT ON performance_schema.* TO <account>;',
  async run(patient) {
    const { database, dialect, clock } = patient;
    const { performance_schema: recorded } = await readVariables(database, ['performance_schema']);
    if (dialect.name === 'mysql' && recorded === 'OFF')
      return [unknown('the server does not record lock waits', 'Start it with performance_schema = ON.')];
    const read = () => database.runIdempotent(() => readWaits(patient));
    const before = await read();
    if (before.length === 0) return [ok('no transaction waits for a row of the queue')];
    await clock.sleep(PAUSE_MS);
    const blockers = new Set(before.map(({ blocker }) => blocker));
    const still = (await read()).filter(({ blocker }) => blockers.has(blocker));
    if (still.length === 0) return [ok('transactions wait for rows of the queue for less than a second')];
    return [...new Set(still.map(({ blocker }) => blocker))].map((blocker) => {
      const waits = still.filter((wait) => wait.blocker === blocker);
      const rows = [...new Set(waits.map(({ table, index }) => `${table} (${index})`))].join(', ');
      const blocked = `has blocked ${waits.length} transactions for more than a second, on ${rows}`;
      if (blocker === 0) return problem(`a prepared XA transaction ${blocked}`, END_PREPARED);
      const wayOut = `Commit before slow work. To end the transaction: KILL ${blocker};`;
      return problem(`connection ${blocker} ${blocked}`, wayOut);
    });
  },
};

function* readWaits({ dialect, tables }: Patient): Work<LockWait[]> {
  const rows = yield* query<LockWaitRow>(dialect.name === 'mariadb' ? WAITS_MARIADB : WAITS_MYSQL);
  const names = new Set<string>(Object.values(tables));
  return rows.flatMap(({ db, name, index_name, blocker }) => {
    // MariaDB writes `database`.`table`.
    const [, schema = db, table = name] = /^`(.+)`\.`(.+)`$/.exec(name) ?? [];
    if (schema !== db || !names.has(table)) return [];
    return [{ table, index: index_name ?? 'the table', blocker: Number(blocker) }];
  });
}
