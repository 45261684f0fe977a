import type { Clock } from '../common/clock.js';
import type { Duration } from '../common/units.js';
import { isName, NAME_EXPECTED } from '../job/identifiers.js';
import { checkAndResolve, duration, kind, option, type SchemaOf } from '../job/option-schema.js';
import type { LastSample, QueueStats, StatsSample, StatsStore } from '../store/features/stats/stats-store.js';

export interface StatsOptions {
  /** Only this queue. Default: all queues. */
  queue?: string;
  /** The largest age of the statistics. Default 5s. A sample that took longer than a fiftieth of it is kept longer. */
  maxAge?: Duration;
}

const STATS_OPTIONS = {
  queue: option(kind(NAME_EXPECTED, isName)),
  maxAge: option(duration, '5s'),
} satisfies SchemaOf<StatsOptions>;

// So the samples need at most 2 % of one connection, whatever they cost.
const PAUSE_PER_DURATION = 50;
// A reader does not wait for the sample of another process if the last one is younger.
const USABLE_MS = 60_000;
const WAIT_STEP_MS = 100;

interface StatsParts {
  readonly stats: StatsStore;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** The statistics of the last sample, or of a new one if that is too old. All processes share the samples. */
export async function readStats(parts: StatsParts, given: StatsOptions): Promise<QueueStats[]> {
  const { queue, maxAge } = checkAndResolve('Cannot read statistics', STATS_OPTIONS, given);
  const { queues, sampledAtMs, ageMs } = await joinedSample(parts, maxAge);
  const asked = queue === undefined ? queues : queues.filter((one) => one.queue === queue);
  return asked.map((one) => ({ ...one, settings: one.settings ?? {}, sampledAt: new Date(sampledAtMs), ageMs }));
}

type KnownSample = LastSample & StatsSample;

const underWay = new WeakMap<StatsStore, Map<number, Promise<KnownSample>>>();

/** Calls of one process that ask for the same age share one read, so that they do not pile up while it waits. */
function joinedSample(parts: StatsParts, maxAgeMs: number): Promise<KnownSample> {
  const reads = underWay.get(parts.stats) ?? new Map<number, Promise<KnownSample>>();
  underWay.set(parts.stats, reads);
  const known = reads.get(maxAgeMs);
  if (known) return known;
  const read = recentSample(parts, maxAgeMs).finally(() => reads.delete(maxAgeMs));
  reads.set(maxAgeMs, read);
  return read;
}

async function recentSample({ stats, clock }: StatsParts, maxAgeMs: number): Promise<KnownSample> {
  for (;;) {
    const last = await stats.read();
    if (isYoungerThan(last, Math.max(maxAgeMs, last.tookMs * PAUSE_PER_DURATION))) return last;
    if (await stats.takeLease(last.sampledAtMs)) return { ...(await stats.takeSample()), ageMs: 0 };
    if (isYoungerThan(last, USABLE_MS)) return last;
    // Another process takes the sample. If it dies, its lease ends.
    await clock.sleep(WAIT_STEP_MS);
  }
}

/** A sample from before the server clock was set back has a negative age. */
function isYoungerThan(last: LastSample, ms: number): last is KnownSample {
  return last.queues !== null && last.ageMs >= 0 && last.ageMs < ms;
}
