import {
  deleteFrom,
  insertInChunks,
  recordEvents,
  type JobEvent,
  type JobEventSource,
  type SqlValue,
  type Statement,
  type Values,
  type Work,
} from '../core/statement.js';
import type { Completion, JobEnd } from '../rows/completion.js';
import { fence, groupByClaim, isFinished, isShort, type FencedStatement } from '../rows/fence.js';
import { closeEdges } from './edges.js';
import { leaveStages } from './stages.js';
import { rememberResults } from './subjects.js';
import { wakeGroups } from './wake-groups.js';
import { deadLetterOf } from '../../job/dead-letter.js';
import type { NewJob } from '../../job/job.js';
import { eventsOf, jobRetentionMs, mayBeInFlow, OUTCOME_OF } from '../../job/outcome.js';
import { encodeErrors } from '../../job/stored-error.js';
import { enterJobs } from './enter-jobs.js';
import { groupBy } from '../../common/lists.js';
import { mayExpire, REFUNDED_ATTEMPT } from '../rows/claimed-row.js';
import { BLOCKED, IN_STAGE, RETURNED, SCHEDULED } from '../tables/runnable.js';

/** What the end of jobs does to one table of a feature. */
interface EndHook {
  /** The hook receives these ends alone, and is not called without any: a job without the feature never meets it. */
  readonly concerns: (end: JobEnd) => boolean;
  /** Statements before those for claims and jobs, in the same step. */
  readonly beforeRows?: (ends: readonly JobEnd[]) => readonly Statement[];
  /** Statements after those for claims and jobs, in the same step. */
  readonly withRows?: (ends: readonly JobEnd[]) => readonly Statement[];
  /** Work after the fence, and before the history. */
  readonly beforeHistory?: (ends: readonly JobEnd[]) => Work<void>;
  /** Work after the history. */
  readonly afterHistory?: (ends: readonly JobEnd[]) => Work<void>;
}

/** In the order in which every transaction locks the tables. A feature that has to do with ends adds one line. */
const HOOKS: readonly EndHook[] = [
  { concerns: (end) => isCompletion(end) && end.job.group !== null, beforeRows: wakeGroups },
  { concerns: ({ job }) => mayBeInFlow(job), withRows: closeEdges },
  { concerns: ({ job }) => job.overrides?.subject !== undefined, withRows: rememberResults },
  { concerns: ({ outcome }) => outcome.kind === 'dead', beforeHistory: enqueueDeadLetters },
  { concerns: ({ isStaged }) => isStaged === true, afterHistory: leaveStages },
];

const DELETE_FINISHED = deleteFrom('jobs', ':ids AND claim_id = :claimId');

/**
 * A fenced statement matched fewer rows than it named: some claims are lost, or the cancellation of a job is requested.
 * The transaction must be rolled back.
 */
export class FenceError extends Error {}

interface EndOptions {
  /** The statements for the rows of the claims. Default: none, so that they stay unchanged. */
  readonly claims?: readonly FencedStatement[];
  /** Statements in place of those that delete the jobs by their ids and claims. */
  readonly deletions?: readonly Statement[];
  readonly events?: JobEventSource;
}

/** The way out of the queue: ends jobs, and returns those to their queues whose outcome is not final. */
export function* endJobs(
  ends: readonly JobEnd[],
  { claims = [], deletions, events = completionEvents(ends.filter(isCompletion)) }: EndOptions = {},
): Work<void> {
  yield* recordEvents(events);
  const { rows, kept } = endRows(ends);
  const hooks = HOOKS.map((hook) => ({ ...hook, concerned: ends.filter(hook.concerns) })).filter(
    ({ concerned }) => concerned.length > 0,
  );
  const fenced: FencedStatement[] = [
    ...hooks.flatMap(({ beforeRows, concerned }) => beforeRows?.(concerned) ?? []),
    ...claims,
    ...(deletions ?? rows),
    ...hooks.flatMap(({ withRows, concerned }) => withRows?.(concerned) ?? []),
  ];
  const answers = yield { statements: fenced, changes: ends };
  if (fenced.some((one, index) => isShort(one, answers[index]!))) throw new FenceError();
  for (const { beforeHistory, concerned } of hooks) if (beforeHistory) yield* beforeHistory(concerned);
  // After the fence, because another worker may have written the history of a lost job already.
  yield* writeHistory(kept);
  for (const { afterHistory, concerned } of hooks) if (afterHistory) yield* afterHistory(concerned);
}

function isCompletion(end: JobEnd): end is Completion {
  return !('isRemoval' in end);
}

/** The statements for the rows of the jobs, and those of the jobs whose history they do not write. */
function endRows(ends: readonly JobEnd[]): { rows: FencedStatement[]; kept: Completion[] } {
  const rows: FencedStatement[] = [];
  const kept: Completion[] = [];
  for (const [claimId, ofClaim] of groupByClaim(ends)) {
    const completions = ofClaim.filter(isCompletion);
    const finished = ofClaim.filter(isFinished);
    const { copies, others } = copyToHistory(claimId, completions.filter(isFinished));
    rows.push(...copies);
    kept.push(...others);
    if (finished.length > 0) rows.push(fence(DELETE_FINISHED, claimId, finished));
    rows.push(...returnJobs(claimId, completions));
  }
  return { rows, kept };
}

/** Enqueues the dead letters of jobs in the transaction in which they die, after the jobs and before their history. */
function* enqueueDeadLetters(ends: readonly JobEnd[]): Work<void> {
  const letters: NewJob[] = [];
  for (const { job, outcome, deadLetter } of ends.filter(isCompletion)) {
    const letter = outcome.kind === 'dead' && deadLetter && deadLetterOf(job, outcome.error, deadLetter);
    if (letter) letters.push(letter);
  }
  if (letters.length > 0) yield* enterJobs(letters);
}

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
function* writeHistory(completions: readonly Completion[]): Work<void> {
  const inOrder = [...completions].sort((a, b) => a.job.id - b.job.id);
  yield* insertInChunks(WRITE_HISTORY, inOrder.map(toHistoryRow));
}

/** The statements that copy groups of equal completions, and the other completions, which `writeHistory` writes. */
function copyToHistory(claimId: number, finished: readonly Completion[]) {
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
  return [
    ...[
      job.id,
      job.queue,
      job.name,
      OUTCOME_OF[outcome.kind],
      job.priority,
      job.attempt,
      job.maxAttempts,
      workerId,
      job.createdAtMs,
    ],
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
function errorsAfter({ job, outcome, endedAt, ...run }: FailedRun): string | null {
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

// In a group the due time of the last run stays: it shows that the job keeps its place.
const SCHEDULE = `
  UPDATE {jobs} {by primary}
  SET state = 'scheduled', runnable = ${SCHEDULED}, run_at = COALESCE(:untilMs, :now + :delayMs), claim_id = 0,
      due_at = CASE WHEN group_key = '' THEN NULL ELSE COALESCE(due_at, created_at) END, attempt = ${REFUNDED_ATTEMPT}, error = COALESCE(:error, error)
  WHERE :ids AND claim_id = :claimId`;

// A retried job is due now, and a released job keeps its due time. The row keeps its length.
const RETURN_TO_WAITING = `
  UPDATE {jobs} {by primary}
  SET state = 'waiting', runnable = CASE WHEN group_key = '' OR runnable = ${IN_STAGE} THEN runnable ELSE ${RETURNED} END, claim_id = 0, due_at = CASE WHEN :refund = 0 THEN :now ELSE due_at END, attempt = ${REFUNDED_ATTEMPT}, error = COALESCE(:error, error)
  WHERE :ids AND claim_id = :claimId`;

const BLOCK = `
  UPDATE {jobs} {by primary}
  SET state = 'blocked', runnable = ${BLOCKED}, claim_id = 0, attempt = ${REFUNDED_ATTEMPT}
  WHERE :ids AND claim_id = :claimId`;

// Such a job has started in time. With its attempt refunded, its next claim would take it for one that has never started.
const FORGET_EXPIRY = `
  UPDATE {jobs} {by primary}
  SET options = JSON_REMOVE(options, '$.expiresInMs')
  WHERE :ids AND claim_id = :claimId`;

/** The statements that return jobs of a claim to their queues: one for each group of equal returns. Skips finished jobs. */
function returnJobs(claimId: number, completions: readonly Completion[]): FencedStatement[] {
  const groups = groupBy(completions, (completion) => JSON.stringify(queueReturnOf(completion)));
  const returns = [...groups.values()].flatMap((group) => {
    const queueReturn = queueReturnOf(group[0]!);
    if (!queueReturn) return [];
    return fence(statementOf(queueReturn), claimId, group, queueReturn);
  });
  const inTime = completions.filter(hasStartedInTime);
  return inTime.length === 0 ? returns : [fence(FORGET_EXPIRY, claimId, inTime), ...returns];
}

function hasStartedInTime(completion: Completion): boolean {
  const { job, ranMs, mayHaveStarted = ranMs !== null } = completion;
  return mayExpire(job) && mayHaveStarted && queueReturnOf(completion)?.refund === 1;
}

function statementOf({ isBlocked, delayMs }: QueueReturn): string {
  if (isBlocked) return BLOCK;
  return delayMs > 0 ? SCHEDULE : RETURN_TO_WAITING;
}

type QueueReturn = Readonly<{
  isBlocked?: 1;
  refund: number;
  error: string | null;
  delayMs: number;
  untilMs: number | null;
}>;

function queueReturnOf(completion: Completion): QueueReturn | undefined {
  const { outcome } = completion;
  switch (outcome.kind) {
    case 'release':
      return { refund: 1, error: null, delayMs: 0, untilMs: null };
    case 'block':
      return { isBlocked: 1, refund: 1, error: null, delayMs: 0, untilMs: null };
    case 'snooze':
      return { refund: 1, error: null, delayMs: outcome.delayMs, untilMs: outcome.untilMs ?? null };
    case 'retry':
      return { refund: 0, error: errorsAfter(completion), delayMs: outcome.delayMs, untilMs: null };
    default:
      return undefined;
  }
}

/** As the listeners in the process of the worker receive them. */
export function completionEvents(completions: readonly Completion[]): JobEventSource {
  return (isRecorded) => completions.filter(({ job }) => isRecorded(job.queue)).flatMap(eventsOfCompletion);
}

export function rescueEvents(completions: readonly Completion[]): JobEventSource {
  return (isRecorded) => completions.filter(({ job }) => isRecorded(job.queue)).flatMap(eventsOfRescue);
}

function eventsOfCompletion(completion: Completion): JobEvent[] {
  const { outcome, ranMs } = completion;
  const result = outcome.kind === 'complete' ? { result: outcome.result } : {};
  return eventsOf(outcome).map((event) => ({ ...eventFieldsOf(completion), ...event, ...result, ranMs }));
}

function eventsOfRescue(completion: Completion): JobEvent[] {
  const { outcome } = completion;
  const fields = { ...eventFieldsOf(completion), ...('error' in outcome && { error: outcome.error }) };
  const delayMs = outcome.kind === 'retry' ? outcome.delayMs : 0;
  const rescuedEvent: JobEvent = { ...fields, event: 'rescued', delayMs };
  if (outcome.kind === 'dead') return [rescuedEvent, { ...fields, event: 'dead' }];
  return outcome.kind === 'cancel' ? [rescuedEvent, { ...fields, event: 'cancelled' }] : [rescuedEvent];
}

function eventFieldsOf({ job: { id, queue, name, attempt }, owner }: Completion) {
  return { queue, jobId: id, name, attempt, owner: owner ?? null };
}
