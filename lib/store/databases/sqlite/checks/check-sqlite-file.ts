import { stat } from 'node:fs/promises';
import { hasCode } from '../../../../job/errors.js';
import { query, type Work } from '../../../core/statement.js';
import {
  note,
  ok,
  problem,
  type Check,
  type LightCheck,
  type LightPatient,
  type Verdict,
} from '../../../doctor/check.js';

const MAX_LOG_BYTES = 64 * 1_048_576;

/** The settings of the file, and the size of its write-ahead log. */
export const checkSqliteFile: LightCheck = {
  name: 'file',
  isLight: true,
  run: async (patient) => [await journalMode(patient), await synchronous(patient), await logSize(patient)],
};

/** A transaction that keeps the file locked. */
export const checkWriteLock: Check = {
  name: 'file',
  run: async ({ database }) => [await writeLock(database)],
};

async function journalMode({ database, file }: LightPatient): Promise<Verdict> {
  if (file === undefined) return ok('the database is in memory');
  const [row] = await database.runIdempotent(() => query<{ journal_mode: string }>('PRAGMA journal_mode'));
  const facts = `journal_mode = ${row!.journal_mode}`;
  if (row!.journal_mode === 'wal') return ok(facts);
  const wayOut =
    'The writer blocks all readers. The library sets WAL when it starts, so another program has changed the mode, or the ' +
    'file system has no shared memory, as a network file system. Run: PRAGMA journal_mode = WAL;';
  return problem(facts, wayOut);
}

async function synchronous({ database }: LightPatient): Promise<Verdict> {
  const [row] = await database.runIdempotent(() => query<{ synchronous: number }>('PRAGMA synchronous'));
  if (row!.synchronous >= 2) return ok('synchronous = FULL');
  const wayOut =
    'The library sets FULL on its own connections. A connection of the application has this default: after a power failure, ' +
    'jobs that were enqueued with `manager` can be missing. Run PRAGMA synchronous = FULL on it to prevent that.';
  return note(`synchronous = ${row!.synchronous === 1 ? 'NORMAL' : 'OFF'} by default`, wayOut);
}

async function writeLock(database: LightPatient['database']): Promise<Verdict> {
  try {
    await database.transaction(() => nothing());
    return ok('the write lock is free');
  } catch (error) {
    if (!hasCode(error, 'STORE_UNAVAILABLE')) throw error;
    const wayOut = 'Another program is in a long transaction. Commit before slow work, or end that program.';
    return problem('the write lock was taken for 5 s', wayOut);
  }
}

// eslint-disable-next-line require-yield
function* nothing(): Work<void> {}

async function logSize({ file }: LightPatient): Promise<Verdict> {
  const bytes = file === undefined ? 0 : await sizeOf(`${file}-wal`);
  const facts = `the write-ahead log has ${Math.ceil(bytes / 1_048_576)} MiB`;
  if (bytes <= MAX_LOG_BYTES) return ok(facts);
  const wayOut =
    'A long read transaction keeps SQLite from emptying it, so reads get slower. End it, then run: PRAGMA wal_checkpoint(TRUNCATE);';
  return problem(facts, wayOut);
}

/** 0 if the file does not exist. */
async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
