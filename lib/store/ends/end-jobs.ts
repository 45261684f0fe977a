import {
  deleteFrom,
  executeAll,
  recordEvents,
  type JobEvent,
  type JobEventSource,
  type Statement,
  type Work,
} from '../core/statement.js';
import type { Completion, JobEnd } from '../rows/completion.js';
import { fence, groupByClaim, isFinished, isShort, type FencedStatement } from '../rows/fence.js';
import { copyToHistory, writeHistory, errorsAfter } from '../rows/history.js';
import { closeEdges } from './edges.js';
import { leaveStages } from './stages.js';
import { rememberResults } from './subjects.js';
import { wakeGroups } from './wake-groups.js';
import { deadLetterOf } from '../../job/dead-letter.js';
import type { NewJob } from '../../job/job.js';
import { eventsOf } from '../../job/outcome.js';
import { enterJobs } from './enter-jobs.js';
import { groupBy } from '../../common/lists.js';
import { REFUNDED_ATTEMPT } from '../rows/claimed-row.js';
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
  { concerns: ({ job }) => job.overrides?.flow !== undefined, withRows: closeEdges },
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
  const answers = yield* executeAll(fenced);
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

const SCHEDULE = `
  UPDATE {jobs} {by primary}
  SET state = 'scheduled', runnable = ${SCHEDULED}, run_at = COALESCE(:untilMs, :now + :delayMs), due_at = NULL, claim_id = 0,
      attempt = ${REFUNDED_ATTEMPT}, error = COALESCE(:error, error)
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

/** The statements that return jobs of a claim to their queues: one for each group of equal returns. Skips finished jobs. */
function returnJobs(claimId: number, completions: readonly Completion[]): FencedStatement[] {
  const groups = groupBy(completions, (completion) => JSON.stringify(queueReturnOf(completion)));
  return [...groups.values()].flatMap((group) => {
    const queueReturn = queueReturnOf(group[0]!);
    if (!queueReturn) return [];
    return fence(statementOf(queueReturn), claimId, group, queueReturn);
  });
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
