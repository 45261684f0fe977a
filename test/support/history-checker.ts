import type { JournalEntry } from './journal.js';

/** The final state of a job. */
export interface FinishedJob {
  readonly id: number;
  readonly state: string;
  readonly attempt: number;
  /** The behaviour of its handler. */
  readonly kind?: string;
  readonly queue?: string;
  /** It took the place of another job, whose attempts do not count for it. */
  readonly hasReplaced?: boolean;
}

const OUTCOMES: readonly string[] = ['completed', 'failed', 'dead', 'cancelled', 'released', 'snoozed', 'blocked'];

// These handlers take their attempt back.
const RELEASING: readonly string[] = ['releases', 'snoozes', 'steps', 'waits', 'fans-out'];

// Until its next run, a released job has one attempt less. A child that fails cancels a blocked job before that run.
const BEFORE_NEXT_RUN: readonly string[] = ['scheduled', 'waiting', 'active', 'blocked', 'cancelled'];

interface RunSpan {
  readonly by: string;
  readonly attempt: number;
  readonly from: number;
  to: number;
}

/** An attempt whose timeout the database has committed as its outcome. */
export interface TimedOut {
  readonly job: number;
  readonly attempt: number;
}

/**
 * Returns every violation of a guarantee in a whole history. Empty if there is none.
 *
 * @param entries the entries of all processes, in the order of time
 * @param finished the jobs in the database at the end
 * @param timedOut committed timeouts of attempts whose handlers may have continued
 */
export function findViolations(
  entries: readonly JournalEntry[],
  finished: readonly FinishedJob[],
  timedOut: readonly TimedOut[] = [],
): string[] {
  const timedOutAttempts = new Set(timedOut.map(({ job, attempt }) => keyOf(job, attempt)));
  const found: string[] = [];
  const ends = new Map(finished.map((job) => [job.id, job]));
  const jobs = new Map<number, JournalEntry[]>();
  const died = new Map(entries.filter(({ kind }) => kind === 'died').map(({ by, at }) => [by, at]));
  for (const entry of entries) {
    if (entry.kind === 'died' || entry.kind === 'broken') continue;
    const ofJob = jobs.get(entry.job);
    if (ofJob) ofJob.push(entry);
    else jobs.set(entry.job, [entry]);
  }
  for (const [job, history] of jobs) {
    const end = ends.get(job);
    if (!end) {
      found.push(`job ${job} was lost`);
      continue;
    }
    const problems = [
      ...findRunsAfterCompletion(job, history, died),
      ...findOverlappingRuns(job, history, died, timedOutAttempts),
      ...(end.hasReplaced ? [] : findStolenCompletions(job, history)),
      ...findMiscountedAttempts(job, history, end),
    ];
    if (problems.length > 0)
      found.push(
        ...problems,
        `  ${end.queue ?? ''} ${end.kind ?? 'job'}: ${history.map(({ by, kind, attempt }) => `${by} ${kind} ${attempt}`).join(', ')}`,
      );
  }
  for (const { id } of finished) if (!jobs.has(id)) found.push(`job ${id} came from nowhere`);
  return found;
}

function findRunsAfterCompletion(
  job: number,
  history: readonly JournalEntry[],
  died: ReadonlyMap<string, number>,
): string[] {
  const completed = history.filter(({ kind }) => kind === 'completed');
  if (completed.length === 0) return [];
  // A process may freeze between its lease check and the start of a run. Then it emits `lost`, and the fence holds. A
  // process that died can emit nothing.
  const lostItsLease = ({ by, attempt }: JournalEntry) =>
    died.has(by) || history.some((other) => other.kind === 'lost' && other.by === by && other.attempt === attempt);
  const again = history.some((entry) => entry.kind === 'begin' && entry.at > completed[0]!.at && !lostItsLease(entry));
  return [
    ...(completed.length > 1 ? [`job ${job} was completed ${completed.length} times`] : []),
    ...(again ? [`job ${job} ran again after it had completed`] : []),
  ];
}

/**
 * Overlapping runs of one job without a `lost` event.
 *
 * @param timedOutAttempts attempts that the database had ended before any later attempt started
 */
function findOverlappingRuns(
  job: number,
  history: readonly JournalEntry[],
  died: ReadonlyMap<string, number>,
  timedOutAttempts: ReadonlySet<string>,
): string[] {
  const spans: RunSpan[] = [];
  for (const { kind, by, attempt, at } of history) {
    if (kind === 'begin') spans.push({ by, attempt, from: at, to: died.has(by) ? at : Infinity });
    const span = spans.filter((one) => one.by === by && one.attempt === attempt).at(-1);
    // A run with a committed outcome is over for the queue, even if its handler continues after a timeout.
    if (span && (kind === 'end' || OUTCOMES.includes(kind))) span.to = Math.min(span.to, at);
  }
  const isLost = ({ by, attempt }: RunSpan) =>
    history.some((entry) => entry.kind === 'lost' && entry.by === by && entry.attempt === attempt);
  const isOver = (span: RunSpan, next: RunSpan) =>
    next.attempt > span.attempt && timedOutAttempts.has(keyOf(job, span.attempt));
  const overlap = (span: RunSpan, next: RunSpan) => next.from < span.to && !isOver(span, next);
  const bad = spans.some((span, index) => spans.slice(index + 1).some((next) => overlap(span, next)) && !isLost(span));
  return bad ? [`job ${job} ran twice at a time, and neither lease was lost`] : [];
}

function keyOf(job: number, attempt: number): string {
  return `${job}/${attempt}`;
}

/** A later attempt has taken the lease of all earlier ones. */
function findStolenCompletions(job: number, history: readonly JournalEntry[]): string[] {
  const completed = history.find(({ kind }) => kind === 'completed');
  const isLater = ({ kind, attempt }: JournalEntry) => kind === 'begin' && attempt > completed!.attempt;
  return completed && history.some(isLater) ? [`job ${job} was completed by a run whose lease had been taken`] : [];
}

function findMiscountedAttempts(job: number, history: readonly JournalEntry[], end: FinishedJob): string[] {
  const started = history.filter(({ kind }) => kind === 'begin').map(({ attempt }) => attempt);
  // A process may have been killed, or have lost its answer, before it recorded a release.
  const mayHaveReturned = end.kind !== undefined && RELEASING.includes(end.kind);
  const releases = mayHaveReturned ? ['released', 'snoozed', 'end'] : ['released', 'snoozed'];
  const released = history.some(({ kind }) => releases.includes(kind));
  // Unfinished jobs are reported elsewhere.
  const counted = end.attempt + Number(released && BEFORE_NEXT_RUN.includes(end.state));
  const completed = history.some(({ kind }) => kind === 'completed');
  const isUndone = completed && end.state !== 'completed';
  const undone = isUndone ? [`job ${job} was completed, and is ${end.state}`] : [];
  if (end.hasReplaced) return undone;
  const twice = !released && new Set(started).size !== started.length;
  return [
    ...(twice ? [`job ${job} ran twice in one attempt`] : []),
    ...(Math.max(0, ...started) > counted ? [`job ${job} used more attempts than were counted`] : []),
    ...undone,
  ];
}
