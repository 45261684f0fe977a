import { keptMs } from '../../job/kept.js';
import type { StoredError } from '../../job/stored-error.js';
import type { Settlement } from '../job-store.js';
import { fence, type Fenced } from './fence.js';
import { rowChunks } from './row-chunks.js';
import { change, Rows, type SqlValue, type Values, type Work } from './statement.js';

// A live job's id cannot be in the history, unless ids have been given out again: after a TRUNCATE of the jobs, or in a restored
// dump. The row is an earlier job's then, and replacing it lets this one end. MySQL, MariaDB and SQLite all know REPLACE,
// and it takes the same locks as an INSERT if there is no such row.
const KEEP = `
  REPLACE INTO {history} (id, queue, name, state, priority, attempt, max_attempts, worker_id,
                         created_at, started_at, finished_at, expires_at, payload, headers, options, result, error,
                         due_at, owner)
  VALUES :rows`;

// started_at is NULL where the run did not begin: now minus NULL is NULL.
const KEPT = `(?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?, ?, ?)`;

// The payloads of jobs that ended alike need not travel back to the database they came from.
const KEEP_ALIKE = `
  REPLACE INTO {history} (id, queue, name, state, priority, attempt, max_attempts, worker_id,
                         created_at, started_at, finished_at, expires_at, payload, headers, options, result, error,
                         due_at, owner)
  SELECT id, queue, name, 'completed', priority, attempt, max_attempts, :workerId,
         created_at, :now - :ranMs, :now, :now + :keepMs, payload, headers, options, NULL, NULL,
         due_at, :owner
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND claim_id = :claimId`;

// Fewer are written with the others, if there are any: a statement more costs more than it saves.
const FEWEST_ALIKE = 8;

export function historyMs({ job, keepMs }: Settlement): number | false {
  return keptMs(job.overrides, keepMs);
}

/** Writes the history of jobs that have just been taken from the table. */
export function* keepFinished(settlements: readonly Settlement[]): Work<void> {
  const inOrder = [...settlements].sort((a, b) => a.job.id - b.job.id);
  for (const rows of rowChunks(inOrder.map(historyRow))) yield* change(KEEP, { rows: new Rows(KEPT, rows) });
}

/** Copies of jobs that are kept and ended alike, made where they stand; the others' rows are written with `keepFinished`. */
export function copyAlike(claimId: number, finished: readonly Settlement[]) {
  const copies: Fenced[] = [];
  const others: Settlement[] = [];
  for (const group of alike(finished)) {
    const isWorthIt = group.length >= FEWEST_ALIKE || group.length === finished.length;
    if (isWorthIt && isPlain(group[0]!)) copies.push(copy(claimId, group));
    else others.push(...group);
  }
  return { copies, others };
}

// A server counts a row that is replaced twice.
function copy(claimId: number, group: readonly Settlement[]): Fenced {
  return { ...fence(KEEP_ALIKE, claimId, group, alikeValues(group[0]!)), orMore: true };
}

/** Groups of jobs to keep. Where something is known of a job that its row does not say, it stands alone. */
function alike(finished: readonly Settlement[]): Iterable<readonly Settlement[]> {
  const groups = new Map<unknown, Settlement[]>();
  for (const settlement of finished) {
    const { ranMs, owner = '' } = settlement;
    const keepMs = historyMs(settlement);
    if (keepMs === false) continue;
    const key = isPlain(settlement) ? `${ranMs} ${keepMs} ${owner}` : settlement;
    const group = groups.get(key);
    if (group) group.push(settlement);
    else groups.set(key, [settlement]);
  }
  return groups.values();
}

function isPlain({ outcome }: Settlement): boolean {
  return outcome.kind === 'complete' && outcome.result === null && !outcome.error;
}

function alikeValues(settlement: Settlement): Values {
  const { workerId, ranMs, owner } = settlement;
  return {
    workerId,
    owner: owner || null,
    keepMs: historyMs(settlement) as number,
    ranMs: ranMs === null ? null : Math.round(ranMs),
  };
}

function historyRow(settlement: Settlement): SqlValue[] {
  const { job, outcome, ranMs, workerId, owner } = settlement;
  const overrides = job.overrides && JSON.stringify(job.overrides);
  const result = outcome.kind === 'complete' ? outcome.result : null;
  const error = errorOf(settlement);
  const state = ({ complete: 'completed', dead: 'dead', cancel: 'cancelled' } as Record<string, string>)[outcome.kind]!;
  return [
    ...[job.id, job.queue, job.name, state, job.priority, job.attempt, job.maxAttempts, workerId, job.createdAtMs],
    ...[
      ranMs === null ? null : Math.round(ranMs),
      historyMs(settlement) as number,
      job.payload,
      job.headers,
      overrides,
      result,
      error && JSON.stringify(error),
      job.dueAtMs,
      owner || null,
    ],
  ];
}

/** A completed job has none of an earlier run: that isn't how it ended. Its own says why no result was kept. */
function errorOf({ job, outcome }: Settlement): StoredError | null {
  if (outcome.kind === 'dead' || outcome.kind === 'complete') return outcome.error ?? null;
  return outcome.kind === 'cancel' ? job.lastError : null;
}
