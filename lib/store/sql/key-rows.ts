import type { JobKey } from '../../job/job-key.js';
import type { KeyHolder } from '../../job/key-decision.js';
import type { NewJob } from '../../job/job.js';
import { change, query, together, type Statement, type Work } from './statement.js';

// Keys stand before claims, jobs and history in the common order of locks: whoever has locked a key may lock jobs, and nobody
// who has locked a claim or a job asks for a key. Among themselves they are locked in the order of the primary key.

// With the job's id, although nobody asks for it here: what the index alone could answer MySQL reads from its one end to the
// other where the table is small.
const LOCK_FREE = `
  SELECT key_hash, job_id
  FROM {keys} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue AND key_hash IN (:hashes)
  ORDER BY key_hash /*! FOR UPDATE SKIP LOCKED */`;

const LOCK = `
  SELECT key_hash, job_id, kept_until
  FROM {keys} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue AND key_hash IN (:hashes)
  ORDER BY key_hash /*! FOR UPDATE */`;

// Without locks: the jobs may be anybody's. At READ COMMITTED it sees what those before us at the same key have committed. A
// job that was replayed into another queue has left its key behind.
const LOOK = `
  SELECT k.key_hash, k.job_id, k.held_until, k.expires_at > :now AS has_time, k.kept_until, :now AS at,
         j.id AS alive, j.name, j.claim_id, j.attempt
  FROM {keys} k
  LEFT JOIN {jobs} j ON j.id = k.job_id AND j.queue = k.queue
  WHERE k.queue = :queue AND k.key_hash IN (:hashes)`;

const HOLD = `
  UPDATE {keys} /*! FORCE INDEX (PRIMARY) */
  SET job_id = :jobId, held_until = :until, expires_at = :now + :forMs, kept_until = :now + :keptMs
  WHERE queue = :queue AND key_hash = :hash`;

const KEEP = `
  UPDATE {keys} /*! FORCE INDEX (PRIMARY) */
  SET kept_until = :now + :keptMs
  WHERE queue = :queue AND key_hash IN (:hashes)`;

const FORGET = `
  DELETE /*! {keys} */ FROM {keys} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue AND key_hash IN (:hashes)`;

/** A row that nobody uses stays for so long, so that it is not deleted under the hands of somebody about to. */
export const KEPT_MS = 3_600_000;

// A list as long as the servers plan it well.
const MOST_HASHES = 500;

/** Which row of the table is meant. */
export interface KeyName {
  readonly queue: string;
  readonly hash: string;
}

/** What the table says of a key, and the jobs of the one that took it last. */
export interface KeyRow extends KeyHolder {
  readonly key: KeyName;
  /** 0 where no job has ever taken it. */
  readonly jobId: number;
  /** Null where the job is finished. */
  readonly jobName: string | null;
  /** Until when its row stays if nobody uses it: each time it is taken, another. */
  readonly keptUntilMs: number;
  /** How much longer that is. */
  readonly keptMs: number;
}

export type LockedKey = Pick<KeyRow, 'jobId' | 'keptUntilMs'>;

export type KeyRows = ReadonlyMap<string, KeyRow>;

interface LookRow {
  key_hash: string;
  job_id: number;
  held_until: JobKey['until'];
  has_time: number | null;
  kept_until: number;
  at: number;
  alive: number | null;
  name: string | null;
  claim_id: number | null;
  attempt: number | null;
}

/** One text for each key, since two queues may have the same. */
export function idOf({ queue, hash }: KeyName): string {
  return `${queue} ${hash}`;
}

/** Each key of the jobs once, in the order in which they are locked. */
export function keysOf(jobs: readonly NewJob[]): KeyName[] {
  const keys = new Map<string, KeyName>();
  for (const { queue, key } of jobs) if (key) keys.set(idOf({ queue, hash: key.hash }), { queue, hash: key.hash });
  return [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}

/** Locks those that nobody else has locked, and looks at all that there are. */
export function* lockFreeKeys(keys: readonly KeyName[]): Work<{ locked: ReadonlySet<string>; rows: KeyRows }> {
  const lists = listsOf(keys);
  const answers = yield* together(lists.flatMap((values) => [LOCK_FREE, LOOK].map((sql) => ({ sql, values }))));
  const locked = new Set<string>();
  const rows = new Map<string, KeyRow>();
  lists.forEach(({ queue }, index) => {
    const [free, looked] = answers.slice(2 * index) as unknown as { rows: unknown[] }[];
    for (const { key_hash } of free!.rows as LookRow[]) locked.add(idOf({ queue, hash: key_hash }));
    for (const row of looked!.rows as LookRow[]) addRow(rows, queue, row);
  });
  return { locked, rows };
}

/** Locks them, waiting for others who have; answers how each stands now, also where this very transaction has taken it. */
export function* lockKeys(keys: readonly KeyName[]): Work<ReadonlyMap<string, LockedKey>> {
  const locked = new Map<string, LockedKey>();
  for (const { queue, hashes } of listsOf(keys)) {
    for (const { key_hash, job_id, kept_until } of yield* query<LookRow>(LOCK, { queue, hashes }))
      locked.set(idOf({ queue, hash: key_hash }), { jobId: Number(job_id), keptUntilMs: Number(kept_until) });
  }
  return locked;
}

export function* lookAtKeys(keys: readonly KeyName[]): Work<KeyRows> {
  const rows = new Map<string, KeyRow>();
  for (const { queue, hashes } of listsOf(keys)) {
    for (const row of yield* query<LookRow>(LOOK, { queue, hashes })) addRow(rows, queue, row);
  }
  return rows;
}

/** From its commit on the job holds the key, which the transaction has locked. */
export function holdKey(queue: string, { hash, until, forMs }: JobKey, jobId: number): Statement {
  return { sql: HOLD, values: { queue, hash, until, forMs, jobId, keptMs: KEPT_MS + (forMs ?? 0) } };
}

/** For rows that the transaction has locked. */
export function* keepKeys(keys: readonly KeyName[]): Work<void> {
  for (const values of listsOf(keys)) yield* change(KEEP, { ...values, keptMs: KEPT_MS });
}

export function* forgetKeys(keys: readonly KeyName[]): Work<void> {
  for (const values of listsOf(keys)) yield* change(FORGET, { ...values });
}

function addRow(rows: Map<string, KeyRow>, queue: string, row: LookRow): void {
  const key = { queue, hash: row.key_hash };
  rows.set(idOf(key), {
    key,
    jobId: Number(row.job_id),
    jobName: row.name,
    until: row.held_until,
    hasTime: Number(row.has_time) > 0,
    keptUntilMs: Number(row.kept_until),
    // Not in SQL, where the difference can be more than a number there can hold.
    keptMs: Number(row.kept_until) - Number(row.at),
    job: row.alive === null ? undefined : { isIdle: Number(row.claim_id) === 0, attempt: Number(row.attempt) },
  });
}

/** In the order of the keys, which are sorted. */
function listsOf(keys: readonly KeyName[]): { queue: string; hashes: string[] }[] {
  const lists: { queue: string; hashes: string[] }[] = [];
  for (const { queue, hash } of keys) {
    const last = lists.at(-1);
    if (last?.queue === queue && last.hashes.length < MOST_HASHES) last.hashes.push(hash);
    else lists.push({ queue, hashes: [hash] });
  }
  return lists;
}
