import { batch, computed, signal } from '@preact/signals';
import { failureOf, isForbidden, read, type ReadFailure } from '../api.js';
import type { Diagnosis, ErrorCount, Line, Problem, Queue, Worker } from '../answers.js';
import { now } from './clock.js';
import { connect, type Connection, type Statistics } from './connection.js';

type Shared = keyof typeof PARTS;

// The problems change with the statistics; the others read more rows.
const STATE_MS = 5_000;
const SLOW_MS = 30_000;
// The server takes a sample of the statistics at most every five seconds.
const SAMPLE_MS = 6_000;
// Costly samples are kept for a minute or two.
const OLD_MS = 300_000;

/** The state that all pages share. A page that is paused keeps the last one. */
export const queues = signal<Queue[]>([]);
/** The viewer has no right to read some of the queues. */
export const isPartial = signal(false);
export const problems = signal<Problem[] | undefined>(undefined);
export const lines = signal<ReadonlyMap<string, Line> | undefined>(undefined);
export const workers = signal<Worker[] | undefined>(undefined);
/** Those of the last hour. */
export const errors = signal<ErrorCount[] | undefined>(undefined);
/** The checks of the database when the overview was last opened; undefined: not read. */
export const diagnoses = signal<readonly Diagnosis[] | undefined>(undefined);
export const connection = signal<Connection>('connecting');
/** The text of the last answer without statistics. */
export const connectionFailure = signal('');
/** The time of the statistics that the page shows, by the clock of the browser; 0: none have arrived. */
export const updatedAt = signal(0);
/** Why the last read of a part of the state failed. The part is that of an earlier read, or undefined. */
const failures = signal<Readonly<Partial<Record<Shared, ReadFailure>>>>({});
export const isPaused = signal(false);
/** Grows with each update and each action: then pages read their own data again. */
export const turn = signal(0);

export const isLoaded = computed(() => updatedAt.value > 0);
/** The numbers may be old, so that none of them is a good sign. */
export const isStale = computed(() => ['lost', 'outage', 'refused', 'failed'].includes(connection.value));
export const isOld = computed(() => isStale.value || (isLoaded.value && now.value - updatedAt.value > OLD_MS));
export const broken = computed(() => (problems.value ?? []).filter(({ severity }) => severity === 'broken'));
export const failedChecks = computed(() => (diagnoses.value ?? []).filter(({ level }) => level === 'problem'));

/** The most urgent problem of each queue, in their order. */
export const problemByQueue = computed(() => {
  const first = new Map<string, Problem>();
  for (const one of problems.value ?? []) if (one.queue !== null && !first.has(one.queue)) first.set(one.queue, one);
  return first;
});
export const mostWaiting = computed(() => Math.max(1, ...queues.value.map(({ waiting }) => waiting.value)));

const PARTS = { problems, workers, throughput: lines, errors };

const READS = {
  problems: async () => (problems.value = (await read<{ problems: Problem[] }>('problems')).problems),
  workers: async () => (workers.value = (await read<{ workers: Worker[] }>('workers')).workers),
  throughput: async () => {
    const answer = await read<{ queues: Line[] }>('throughput');
    lines.value = new Map(answer.queues.map((one) => [one.queue, one]));
  },
  errors: async () => (errors.value = (await read<{ errors: ErrorCount[] }>('errors')).errors),
} satisfies Record<Shared, () => Promise<unknown>>;

/** A part of the state for a list, as `useRead` returns an answer. */
export function sharedReading<Part extends Shared>(part: Part) {
  const data = PARTS[part].value as (typeof PARTS)[Part]['value'];
  return { data, error: failures.value[part], reload: () => void readPart(part) };
}

let readAt = { state: 0, slow: 0 };
let lastAction = -1;

/** Whether an action came after the first turn and not after the second one: then every part of the page shows its effect. */
export const hasActedSince = (one: number, until = turn.peek()) => one < lastAction && lastAction <= until;

export function startLive(): void {
  // The pages have just begun to read their own data. While the server is away, they may have failed.
  let isFirst = true;
  connect({
    onState: (state, failure = '') => {
      batch(() => {
        connection.value = state;
        connectionFailure.value = failure;
      });
      if (isStale.peek()) isFirst = false;
    },
    onStatistics: (latest) => {
      if (isPaused.value) return;
      batch(() => {
        setQueues(latest);
        if (!isFirst) turn.value += 1;
      });
      isFirst = false;
      void readShared();
    },
  });
  void readShared();
}

export function setPaused(paused: boolean): void {
  isPaused.value = paused;
  if (!paused) void refresh();
}

/** Reads everything again, for example after an action. */
export async function refresh(): Promise<void> {
  readAt = { state: 0, slow: 0 };
  lastAction = turn.value + 1;
  turn.value = lastAction;
  // The connection shows an outage.
  await Promise.allSettled([readQueues(), readShared()]);
  // The sample that follows an action shows its effect.
  setTimeout(() => (readAt = { state: 0, slow: 0 }), SAMPLE_MS);
}

async function readQueues(): Promise<void> {
  setQueues(await read<Statistics>('queues'));
}

/** The statistics may be older than their answer. */
function setQueues({ queues: latest, isPartial: hasHidden }: Statistics): void {
  queues.value = latest;
  isPartial.value = hasHidden;
  updatedAt.value = Date.now() - Math.max(0, ...latest.map(({ ageMs }) => ageMs));
}

async function readShared(): Promise<void> {
  const at = Date.now();
  const reads: Promise<unknown>[] = [];
  if (at - readAt.state >= STATE_MS) {
    readAt.state = at;
    reads.push(readPart('problems'), readPart('workers'));
  }
  if (at - readAt.slow >= SLOW_MS) {
    readAt.slow = at;
    reads.push(readPart('throughput'), readPart('errors'));
  }
  await Promise.all(reads);
}

/** A viewer without the right to a part sees the others. */
async function readPart(part: Shared): Promise<void> {
  try {
    await READS[part]();
    const { [part]: mended, ...others } = failures.value;
    if (mended !== undefined) failures.value = others;
  } catch (error) {
    const failure = failureOf(error);
    batch(() => {
      if (isForbidden(failure)) PARTS[part].value = undefined;
      failures.value = { ...failures.value, [part]: failure };
    });
  }
}
