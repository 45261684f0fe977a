import { jobRetentionMs } from '../../job/job-overrides.js';
import { groupBy } from '../../common/lists.js';
import type { Completion } from './completion.js';
import { fence, type FencedStatement } from './fence.js';
import { insertInChunks, type SqlValue, type Values, type Work } from '../core/statement.js';
import { encodeErrors } from '../../job/stored-error.js';

/** The columns of the history, and of an archive. */
export const HISTORY_COLUMNS = `id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner`;

// After a TRUNCATE of the jobs, or in a restored dump, an earlier job in the history may have the same id. REPLACE
// overwrites it, so that this job can end. MySQL, MariaDB and SQLite support REPLACE, and without such a row it locks
// like an INSERT. started_at is NULL (now minus NULL) for a run that did not start.
const WRITE_HISTORY = `
  REPLACE INTO {history} (${HISTORY_COLUMNS})
  VALUES :rows(?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?, ?, ?)`;

// The history has no column for the group.
const OPTIONS_WITH_GROUP = `CASE WHEN group_key = '' THEN options ELSE JSON_SET(COALESCE(options, '{}'), '$.group', group_key) END`;

// Copies within the database, so that the payloads need not travel back.
const COPY_COMPLETED = `
  REPLACE INTO {history} (${HISTORY_COLUMNS})
  SELECT id, queue, name, 'completed', priority, attempt, max_attempts, :workerId,
         created_at, :now - :ranMs, :now, :now + :keepMs, payload, headers, ${OPTIONS_WITH_GROUP}, NULL, NULL,
         due_at, :owner
  FROM {jobs} {by primary}
  WHERE :ids AND claim_id = :claimId`;

// For fewer jobs a further statement costs more than it saves, unless it is the only one.
const MIN_COPY_BATCH_SIZE = 8;

function historyRetentionMs({ job, outcome, retentionMs }: Completion): number | false {
  return jobRetentionMs(job.overrides, outcome.kind === 'complete', retentionMs);
}

/** Writes the history of jobs whose rows this transaction has deleted. */
export function* writeHistory(completions: readonly Completion[]): Work<void> {
  const inOrder = [...completions].sort((a, b) => a.job.id - b.job.id);
  yield* insertInChunks(WRITE_HISTORY, inOrder.map(toHistoryRow));
}

/** The statements that copy groups of equal completions, and the other completions, which `writeHistory` writes. */
export function copyToHistory(claimId: number, finished: readonly Completion[]) {
  const copies: FencedStatement[] = [];
  const others: Completion[] = [];
  for (const group of groupAlike(finished)) {
    const isWorthIt = group.length >= MIN_COPY_BATCH_SIZE || group.length === finished.length;
    if (!isWorthIt || !isPlainCompletion(group[0]!)) others.push(...group);
    // A server counts a replaced row twice.
    else copies.push({ ...fence(COPY_COMPLETED, claimId, group, sharedValuesOf(group[0]!)), allowsMore: true });
  }
  return { copies, others };
}

/** Groups the completions to keep by their values. A completion with a result or an error forms its own group. */
function groupAlike(finished: readonly Completion[]): Iterable<readonly Completion[]> {
  const kept = finished.filter((completion) => historyRetentionMs(completion) !== false);
  return groupBy(kept, (completion) => {
    const { ranMs, owner = '' } = completion;
    return isPlainCompletion(completion) ? `${ranMs} ${historyRetentionMs(completion)} ${owner}` : completion;
  }).values();
}

function isPlainCompletion({ job, outcome }: Completion): boolean {
  return outcome.kind === 'complete' && outcome.result === null && !outcome.error && job.errors.length === 0;
}

function sharedValuesOf(completion: Completion): Values {
  const { workerId, ranMs, owner } = completion;
  return {
    workerId,
    owner: owner || null,
    keepMs: historyRetentionMs(completion) as number,
    ranMs: ranMs === null ? null : Math.round(ranMs),
  };
}

function toHistoryRow(completion: Completion): SqlValue[] {
  const { job, outcome, ranMs, workerId, owner } = completion;
  const overrides = job.group === null ? job.overrides : { ...job.overrides, group: job.group };
  const result = outcome.kind === 'complete' ? outcome.result : null;
  const state = ({ complete: 'completed', dead: 'dead', cancel: 'cancelled' } as Record<string, string>)[outcome.kind]!;
  return [
    ...[job.id, job.queue, job.name, state, job.priority, job.attempt, job.maxAttempts, workerId, job.createdAtMs],
    ...[ranMs === null ? null : Math.round(ranMs), historyRetentionMs(completion) as number],
    ...[
      job.payload,
      job.headers,
      overrides && JSON.stringify(overrides),
      result,
      errorsAfter(completion),
      job.dueAtMs,
      owner || null,
    ],
  ];
}

type FailedRun = Pick<Completion, 'job' | 'outcome' | 'endedAt' | 'ranMs' | 'workerId' | 'owner'>;

/** The errors of a job with that of its attempt, as JSON; null: none. */
export function errorsAfter({ job, outcome, endedAt, ...run }: FailedRun): string | null {
  const { attempt, lastError, errors } = job;
  if ('error' in outcome && outcome.error)
    return encodeErrors({ ...outcome.error, attempt, at: endedAt, ...runOf(run, endedAt) }, errors);
  // A completed job shows no error, but keeps those of its earlier attempts.
  if (outcome.kind !== 'cancel' || !lastError) return encodeErrors(null, errors);
  const last = errors.at(-1) ?? { attempt };
  return encodeErrors({ ...last, ...lastError }, errors.slice(0, -1));
}

/** A person has no worker: the id in the claim is that of the process that assigned the job. */
function runOf({ ranMs, workerId, owner }: Pick<Completion, 'ranMs' | 'workerId' | 'owner'>, endedAt?: Date) {
  const hasWorker = workerId !== null && (owner === undefined || owner === null);
  return {
    ...(endedAt && ranMs !== null && { startedAt: new Date(endedAt.getTime() - Math.round(ranMs)) }),
    ...(hasWorker && { worker: workerId }),
  };
}
