import { isTurnLong } from '../../../common/turn.js';
import { ascending } from '../../../job/identifiers.js';
import type { JobKey, KeyOwner, KeyOwnerJob } from '../../../job/job-key.js';
import type { NewJob } from '../../../job/job.js';
import type { KeyName } from '../../core/sql-database.js';
import {
  deleteFrom,
  execute,
  executeInBatches,
  NEXT_TURN,
  query,
  queryInBatches,
  type Statement,
  type Work,
} from '../../core/statement.js';
import type { TableRow } from '../../tables/table-schemas.js';

// Clocks are corrected by less than this in normal operation.
const CLOCK_TOLERANCE_MS = 60_000;

// In the common lock order, keys come before claims, jobs and history: a transaction that has locked a claim or a job
// never locks a key. Keys are locked in the order of the primary key.

// Selects job_id, which is unused here: if the index alone could answer the query, MySQL would scan the whole index of
// a small table.
const LOCK_KEYS_SKIP_LOCKED = `
  SELECT key_hash, job_id
  FROM {keys} {by primary}
  WHERE queue = :queue AND key_hash IN (:hashes)
  ORDER BY key_hash {lock free}`;

const LOCK_KEYS = `
  SELECT key_hash, job_id, kept_until
  FROM {keys} {by primary}
  WHERE queue = :queue AND key_hash IN (:hashes)
  ORDER BY key_hash {lock}`;

// Reads without locks, because other transactions may have locked the jobs. At READ COMMITTED it sees the commits of
// earlier owners of the key lock. A job that was replayed into another queue does not own the key any more. A key that was
// acquired in the future has no time: the clock of the database was ahead, and the key would be kept for longer.
const SELECT_KEYS = `
  SELECT k.key_hash, k.job_id, k.key_until, k.kept_until, :now AS at,
         k.expires_at > :now AND k.acquired_at <= :now + ${CLOCK_TOLERANCE_MS} AS has_time,
         j.id AS alive, j.name, j.claim_id, j.attempt
  FROM {keys} k
  LEFT JOIN {jobs} j ON j.id = k.job_id AND j.queue = k.queue
  WHERE k.queue = :queue AND k.key_hash IN (:hashes)`;

const LOCK_OWNERS = `
  SELECT id, claim_id, attempt
  FROM {jobs} {by primary}
  WHERE id IN (:ids)
  ORDER BY id {lock}`;

const ACQUIRE_KEY = `
  UPDATE {keys} {by primary}
  SET job_id = :jobId, key_until = :until, expires_at = :now + :durationMs, acquired_at = :now,
      kept_until = :now + :keptMs
  WHERE queue = :queue AND key_hash = :hash`;

const EXTEND_RETENTION = `
  UPDATE {keys} {by primary}
  SET kept_until = :now + :keptMs
  WHERE queue = :queue AND key_hash IN (:hashes)`;

const DELETE_KEYS = deleteFrom('keys', 'queue = :queue AND key_hash IN (:hashes)');

// Skips any number of locked rows, so that they do not delay the others. Selects job_id, which is unused here: if the
// index alone could answer the query, MySQL would scan the whole small index.
const UNUSED = `
  SELECT queue, key_hash AS hash, job_id
  FROM {keys} {by keys.unused}
  WHERE kept_until <= :now
  ORDER BY kept_until
  LIMIT :limit {lock free}`;

/** An unused row stays for this time, so that it is not deleted while a transaction is about to use it. */
export const UNUSED_KEY_RETENTION_MS = 3_600_000;

// The servers choose good plans for lists of this length.
const HASH_BATCH_SIZE = 500;
const MAX_LOCK_STATEMENTS = 20;

/** The row of a key, joined with the job that acquired it last. */
export interface KeyRow extends KeyOwner {
  readonly key: KeyName;
  /** 0 if no job has ever acquired the key. */
  readonly jobId: number;
  /** Null if the job is finished. */
  readonly jobName: string | null;
  /** The end of the retention of an unused row. It changes with each acquisition. */
  readonly keptUntilMs: number;
  /** The time until `keptUntilMs`; negative afterwards. */
  readonly remainingRetentionMs: number;
}

export type LockedKey = Pick<KeyRow, 'jobId' | 'keptUntilMs'>;

export type KeyRows = ReadonlyMap<string, KeyRow>;

type StoredKeyRow = Pick<TableRow<'keys'>, 'key_hash' | 'job_id' | 'key_until' | 'kept_until'> &
  Readonly<Record<'has_time' | 'alive' | 'claim_id' | 'attempt', number | null>> & {
    readonly at: number;
    readonly name: string | null;
  };

type OwnerRow = Pick<TableRow<'jobs'>, 'id' | 'claim_id' | 'attempt'>;

/** A unique text for each key, because two queues may use the same hash. */
export function keyIdOf({ queue, hash }: KeyName): string {
  return `${queue} ${hash}`;
}

/** A copy in the order of the primary key, in which all transactions lock keys. */
export function inLockOrder<Key extends KeyName>(keys: readonly Key[]): Key[] {
  return [...keys].sort((a, b) => (keyIdOf(a) < keyIdOf(b) ? -1 : 1));
}

/** The distinct keys of the jobs in the order of their locks. */
export function keysOf(jobs: readonly NewJob[]): KeyName[] {
  const keys = new Map<string, KeyName>();
  for (const { queue, key } of jobs) if (key) keys.set(keyIdOf({ queue, hash: key.hash }), { queue, hash: key.hash });
  return [...keys.keys()].sort().map((id) => keys.get(id)!);
}

/** Locks the keys that no other transaction has locked, and reads all of them. */
export function* lockKeysSkipLocked(keys: readonly KeyName[]): Work<{ locked: ReadonlySet<string>; rows: KeyRows }> {
  const batches = hashBatchesOf(keys);
  const results = yield* executeInBatches(
    batches.flatMap((values) => [LOCK_KEYS_SKIP_LOCKED, SELECT_KEYS].map((sql) => ({ sql, values }))),
    MAX_LOCK_STATEMENTS,
  );
  const locked = new Set<string>();
  const rows = new Map<string, KeyRow>();
  for (const [index, { queue }] of batches.entries()) {
    const [free, all] = results.slice(2 * index) as unknown as { rows: unknown[] }[];
    for (const { key_hash } of free!.rows as StoredKeyRow[]) locked.add(keyIdOf({ queue, hash: key_hash }));
    for (const row of all!.rows as StoredKeyRow[]) addRow(rows, queue, row);
    if (isTurnLong()) yield NEXT_TURN;
  }
  return { locked, rows };
}

/** Waits for other transactions. Returns the current rows, which include changes of this transaction. */
export function* lockKeys(keys: readonly KeyName[]): Work<ReadonlyMap<string, LockedKey>> {
  const locked = new Map<string, LockedKey>();
  for (const { queue, hashes } of hashBatchesOf(keys)) {
    for (const { key_hash, job_id, kept_until } of yield* query<StoredKeyRow>(LOCK_KEYS, { queue, hashes }))
      locked.set(keyIdOf({ queue, hash: key_hash }), { jobId: Number(job_id), keptUntilMs: Number(kept_until) });
  }
  return locked;
}

export function* readKeys(keys: readonly KeyName[]): Work<KeyRows> {
  const rows = new Map<string, KeyRow>();
  for (const { queue, hashes } of hashBatchesOf(keys)) {
    for (const row of yield* query<StoredKeyRow>(SELECT_KEYS, { queue, hashes })) addRow(rows, queue, row);
  }
  return rows;
}

/**
 * Reads the owners of keys that this transaction has locked, as it has changed these jobs. No other connection sees that. It
 * has the locks of the jobs, so no other transaction waits for this read, nor has changed them since.
 *
 * @param rows as another connection reads them
 */
export function* readChangedOwners(rows: readonly KeyRow[]): Work<KeyRow[]> {
  const own = yield* readKeys(namesOf(rows));
  // If the snapshot shows that the job has acquired the key, but not the job, this transaction has ended it. A locking read
  // of the missing row would lock a gap.
  const isEnded = ({ key, jobId, keptUntilMs }: KeyRow) => {
    const seen = own.get(keyIdOf(key));
    return seen?.jobId === jobId && seen.keptUntilMs === keptUntilMs && !seen.job;
  };
  const ids = ascending(rows.filter((row) => !isEnded(row)).map(({ jobId }) => jobId));
  const owners = new Map<number, KeyOwnerJob>();
  for (const { id, ...job } of yield* queryInBatches<OwnerRow>(LOCK_OWNERS, ids, HASH_BATCH_SIZE))
    owners.set(Number(id), ownerJobOf(job));
  return rows.map((row) => {
    const job = owners.get(row.jobId);
    return { ...row, job, jobName: job ? row.jobName : null };
  });
}

/** Makes the job the owner of a key that the transaction has locked. */
export function acquireKey(queue: string, { hash, until, durationMs }: JobKey, jobId: number): Statement {
  return {
    sql: ACQUIRE_KEY,
    values: { queue, hash, until, durationMs, jobId, keptMs: UNUSED_KEY_RETENTION_MS + (durationMs ?? 0) },
  };
}

/** The transaction must have locked the rows. */
export function* extendKeyRetention(keys: readonly KeyName[]): Work<void> {
  for (const values of hashBatchesOf(keys))
    yield* execute(EXTEND_RETENTION, { ...values, keptMs: UNUSED_KEY_RETENTION_MS });
}

/** The lock ends with the statement. */
export function* hasUnusedKeys(): Work<boolean> {
  return (yield* query(UNUSED, { limit: 1 })).length > 0;
}

/** Returns the number of examined keys, at most `limit`. A key in use is examined again in an hour. */
export function* pruneKeys(limit: number): Work<number> {
  const unused = inLockOrder(yield* query<KeyName>(UNUSED, { limit }));
  if (unused.length === 0) return 0;
  const { locked, rows } = yield* lockKeysSkipLocked(unused);
  const prunable = [...rows.values()].filter(
    ({ key, remainingRetentionMs }) => locked.has(keyIdOf(key)) && remainingRetentionMs <= 0,
  );
  yield* extendKeyRetention(namesOf(prunable.filter(isInUse)));
  yield* deleteKeys(namesOf(prunable.filter((row) => !isInUse(row))));
  return unused.length;
}

function* deleteKeys(keys: readonly KeyName[]): Work<void> {
  for (const values of hashBatchesOf(keys)) yield* execute(DELETE_KEYS, { ...values });
}

// A started job does not own a key that is kept until `started`. The job may be released and own it again.
function isInUse({ hasTime, job }: KeyRow): boolean {
  return hasTime || job !== undefined;
}

function namesOf(rows: readonly KeyRow[]): KeyName[] {
  return inLockOrder(rows.map(({ key }) => key));
}

function addRow(rows: Map<string, KeyRow>, queue: string, row: StoredKeyRow): void {
  const key = { queue, hash: row.key_hash };
  rows.set(keyIdOf(key), {
    key,
    jobId: Number(row.job_id),
    jobName: row.name,
    until: row.key_until,
    hasTime: Number(row.has_time) > 0,
    keptUntilMs: Number(row.kept_until),
    // Subtracted here, because the difference may overflow an SQL integer.
    remainingRetentionMs: Number(row.kept_until) - Number(row.at),
    job: row.alive === null ? undefined : ownerJobOf(row),
  });
}

function ownerJobOf({ claim_id, attempt }: Pick<StoredKeyRow, 'claim_id' | 'attempt'>): KeyOwnerJob {
  return { isUnclaimed: Number(claim_id) === 0, attempt: Number(attempt) };
}

/** @param keys sorted, so that the batches keep the order of locks */
function hashBatchesOf(keys: readonly KeyName[]): { queue: string; hashes: string[] }[] {
  const batches: { queue: string; hashes: string[] }[] = [];
  for (const { queue, hash } of keys) {
    const last = batches.at(-1);
    if (last?.queue === queue && last.hashes.length < HASH_BATCH_SIZE) last.hashes.push(hash);
    else batches.push({ queue, hashes: [hash] });
  }
  return batches;
}
