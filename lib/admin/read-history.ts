import type { Clock } from '../common/clock.js';
import { batchesOf, groupBy } from '../common/lists.js';
import type { Histogram } from '../job/histogram.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, requireOptions } from '../job/expectation.js';
import { checkQueueName } from '../job/identifiers.js';
import { kind, oneOf, option, optionProblems, type SchemaOf } from '../job/option-schema.js';
import {
  addSums,
  emptySums,
  METRICS_STEPS,
  type MetricsRow,
  type MetricsStore,
} from '../store/features/metrics/metrics-store.js';

export type MetricsStep = 'minute' | 'hour' | 'day';

export interface HistoryOptions {
  /** Default: 60 steps before `to`. */
  from?: Date;
  /** Default: now. At most 10,000 steps after `from`. */
  to?: Date;
  /** The time of each point. Default `minute`. */
  step?: MetricsStep;
}

/** Durations in milliseconds, at most a fifth off: half, 95 % and 99 % of the attempts took no longer. */
export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** The attempts of a queue that ended within one step, in all processes. A step without attempts has no point. */
export interface MetricsPoint {
  /** The start of the step. */
  at: Date;
  /** Longer than requested if shorter steps are not kept for as long. */
  step: MetricsStep;
  completed: number;
  /** The attempts that failed, those included after which the job was dead. */
  failed: number;
  dead: number;
  /** The jobs that were cancelled in a worker, or had expired. */
  cancelled: number;
  /** How long jobs were due before their handler was called; null: none was called. */
  waitMs: Percentiles | null;
  /** How long attempts took; null: none ran. */
  runMs: Percentiles | null;
}

const MAX_STEPS = 10_000;
const DEFAULT_STEPS = 60;
// A statement reads the minutes of many queues, or many minutes of few queues.
const MAX_NAMES = 50;
const MAX_STEPS_OF_PAGE = 10_000;
const PROBLEM = 'Cannot read the history';

const DATE = kind('a valid Date from 1970 on', (value): value is Date => value instanceof Date && value.getTime() >= 0);

const HISTORY_OPTIONS = {
  from: option(DATE),
  to: option(DATE),
  step: option(oneOf('minute', 'hour', 'day'), 'minute'),
} satisfies SchemaOf<HistoryOptions>;

export interface HistoryParts {
  readonly metrics: Pick<MetricsStore, 'read'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The attempts of all queues together. */
export async function readHistory(
  parts: HistoryParts,
  which: string | readonly string[],
  given: HistoryOptions,
): Promise<MetricsPoint[]> {
  return toPoints(await readRows(parts, [which].flat(), given), given.step);
}

/** The attempts of each queue. */
export async function readHistories(
  parts: HistoryParts,
  queues: readonly string[],
  given: HistoryOptions,
): Promise<Map<string, MetricsPoint[]>> {
  const byQueue = groupBy(await readRows(parts, queues, given), ({ queue }) => queue);
  return new Map(queues.map((queue) => [queue, toPoints(byQueue.get(queue) ?? [], given.step)]));
}

async function readRows(
  { metrics, clock }: HistoryParts,
  which: readonly string[],
  given: HistoryOptions,
): Promise<MetricsRow[]> {
  const queues = [...new Set(which)];
  for (const queue of queues) checkQueueName(queue);
  const { from, to, step = 'minute' } = checkRange(given);
  const stepMs = METRICS_STEPS[step];
  const steps = from ? ((to ?? clock.now()).getTime() - from.getTime()) / stepMs : DEFAULT_STEPS;
  const size = Math.max(1, Math.min(MAX_NAMES, Math.floor(MAX_STEPS_OF_PAGE / Math.max(1, steps))));
  const range = { fromMs: from?.getTime() ?? null, toMs: to?.getTime() ?? null, stepMs };
  const pages: MetricsRow[][] = [];
  // One after the other, because the connections belong to the application.
  for (const page of batchesOf(queues, size)) pages.push(await metrics.read(page, range));
  return pages.flat();
}

function toPoints(rows: readonly MetricsRow[], step: MetricsStep = 'minute'): MetricsPoint[] {
  const stepMs = METRICS_STEPS[step];
  // A row of a longer step stays as it is.
  const stepOf = (row: MetricsRow) =>
    (['minute', 'hour', 'day'] as const).find(isAtLeast(Math.max(stepMs, row.stepMs)))!;
  const byStep = groupBy(rows, stepOf);
  return [...byStep]
    .flatMap(([length, ofStep]) => pointsOf(length, ofStep))
    .sort((a, b) => Number(a.at) - Number(b.at));
}

function checkRange(given: HistoryOptions): HistoryOptions {
  const options = requireOptions(PROBLEM, given);
  InvalidOptionsError.throwIfAny(PROBLEM, optionProblems(HISTORY_OPTIONS, options));
  const { from, to, step = 'minute' } = options;
  if (!from || !to) return options;
  const steps = (to.getTime() - from.getTime()) / METRICS_STEPS[step];
  InvalidOptionsError.throwIfAny(PROBLEM, [
    expected(steps > 0, `to to be after ${from.toISOString()}`, to.toISOString()),
    expected(steps <= MAX_STEPS, `from to be at most ${MAX_STEPS} steps before to`, `${Math.ceil(steps)} steps`),
  ]);
  return options;
}

const isAtLeast = (ms: number) => (step: MetricsStep) => METRICS_STEPS[step] >= ms;

function pointsOf(step: MetricsStep, rows: readonly MetricsRow[]): MetricsPoint[] {
  const startOf = ({ startsAtMs }: MetricsRow) => startsAtMs - (startsAtMs % METRICS_STEPS[step]);
  return [...groupBy(rows, startOf)].map(([startsAtMs, ofPoint]) => {
    const sums = emptySums();
    for (const row of ofPoint) addSums(sums, row);
    const { waits, runs, ...counts } = sums;
    return { at: new Date(startsAtMs), step, ...counts, waitMs: percentilesOf(waits), runMs: percentilesOf(runs) };
  });
}

function percentilesOf(durations: Histogram): Percentiles | null {
  const p50 = durations.quantile(0.5);
  return p50 === null ? null : { p50, p95: durations.quantile(0.95)!, p99: durations.quantile(0.99)! };
}
