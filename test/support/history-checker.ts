import type { Entry } from './journal.js';

/** Where a job stands at the end. */
export interface Finished {
  readonly id: number;
  readonly state: string;
  readonly attempt: number;
  /** What its handler does. */
  readonly kind?: string;
  readonly queue?: string;
}

const OUTCOMES: readonly string[] = ['completed', 'failed', 'dead', 'cancelled', 'released', 'snoozed'];

// They take back the attempt.
const RETURNING: readonly string[] = ['releases', 'snoozes'];

const UNFINISHED: readonly string[] = ['scheduled', 'waiting', 'active'];

interface Span {
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
 * Reads a whole history and names everything in it that must never happen; empty where it kept every promise.
 *
 * @param entries what all processes wrote, in the order of time
 * @param finished what the database has in the end
 * @param timedOut what the database has committed of attempts whose handlers may have gone on
 */
export function violations(
  entries: readonly Entry[],
  finished: readonly Finished[],
  timedOut: readonly TimedOut[] = [],
): string[] {
  const over = new Set(timedOut.map(({ job, attempt }) => keyOf(job, attempt)));
  const found: string[] = [];
  const ends = new Map(finished.map((job) => [job.id, job]));
  const jobs = new Map<number, Entry[]>();
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
      ...afterTheEnd(job, history, died),
      ...sideBySide(job, history, died, over),
      ...stolen(job, history),
      ...miscounted(job, history, end),
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

function afterTheEnd(job: number, history: readonly Entry[], died: ReadonlyMap<string, number>): string[] {
  const completed = history.filter(({ kind }) => kind === 'completed');
  if (completed.length === 0) return [];
  // Between its last look at its lease and the beginning a process may be frozen for long: then it is told, and the fence
  // holds. Of one that died nobody knows.
  const wasTold = ({ by, attempt }: Entry) =>
    died.has(by) || history.some((other) => other.kind === 'lost' && other.by === by && other.attempt === attempt);
  const again = history.some((entry) => entry.kind === 'begin' && entry.at > completed[0]!.at && !wasTold(entry));
  return [
    ...(completed.length > 1 ? [`job ${job} was completed ${completed.length} times`] : []),
    ...(again ? [`job ${job} ran again after it had completed`] : []),
  ];
}

/**
 * Runs of one job that overlap, where neither was told that its lease was lost.
 *
 * @param over attempts that were over for the database before any later one began, whenever their worker heard of it
 */
function sideBySide(
  job: number,
  history: readonly Entry[],
  died: ReadonlyMap<string, number>,
  over: ReadonlySet<string>,
): string[] {
  const spans: Span[] = [];
  for (const { kind, by, attempt, at } of history) {
    if (kind === 'begin') spans.push({ by, attempt, from: at, to: died.has(by) ? at : Infinity });
    const span = spans.filter((one) => one.by === by && one.attempt === attempt).at(-1);
    // A run whose outcome has committed is over for the queue, though its handler may go on, as after its timeout.
    if (span && (kind === 'end' || OUTCOMES.includes(kind))) span.to = Math.min(span.to, at);
  }
  const isLost = ({ by, attempt }: Span) =>
    history.some((entry) => entry.kind === 'lost' && entry.by === by && entry.attempt === attempt);
  const isOver = (span: Span, next: Span) => next.attempt > span.attempt && over.has(keyOf(job, span.attempt));
  const overlap = (span: Span, next: Span) => next.from < span.to && !isOver(span, next);
  const bad = spans.some((span, index) => spans.slice(index + 1).some((next) => overlap(span, next)) && !isLost(span));
  return bad ? [`job ${job} ran twice at a time, and neither lease was lost`] : [];
}

function keyOf(job: number, attempt: number): string {
  return `${job}/${attempt}`;
}

/** Whoever runs a later attempt has taken the lease of those before it. */
function stolen(job: number, history: readonly Entry[]): string[] {
  const completed = history.find(({ kind }) => kind === 'completed');
  const isLater = ({ kind, attempt }: Entry) => kind === 'begin' && attempt > completed!.attempt;
  return completed && history.some(isLater) ? [`job ${job} was completed by a run whose lease had been taken`] : [];
}

function miscounted(job: number, history: readonly Entry[], end: Finished): string[] {
  const begun = history.filter(({ kind }) => kind === 'begin').map(({ attempt }) => attempt);
  // Whoever gave a job back may have been killed, or told otherwise, before it could say so.
  const mayHaveReturned = end.kind !== undefined && RETURNING.includes(end.kind);
  const ways = mayHaveReturned ? ['released', 'snoozed', 'end'] : ['released', 'snoozed'];
  const released = history.some(({ kind }) => ways.includes(kind));
  // It is reported anyway that it was left unfinished; until it runs again, one that was given back has one attempt less.
  const counted = end.attempt + Number(released && UNFINISHED.includes(end.state));
  const twice = !released && new Set(begun).size !== begun.length;
  const completed = history.some(({ kind }) => kind === 'completed');
  return [
    ...(twice ? [`job ${job} ran twice in one attempt`] : []),
    ...(Math.max(0, ...begun) > counted ? [`job ${job} used more attempts than were counted`] : []),
    ...(completed && end.state !== 'completed' ? [`job ${job} was completed, and is ${end.state}`] : []),
  ];
}
