import { getEventListeners, getMaxListeners, setMaxListeners } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { BlobStore } from '../../lib/job/codec/blob-options.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { createJobContext } from '../../lib/extras/testing/create-job-context.js';
import { describeEngines, plainJobs } from '../support/engines.js';
import { blobsFor } from '../support/test-blobs.js';

const MANY = 20;

/** Gives the signal to many timers at once, as handlers give it to the calls of other libraries. */
async function useManyTimes(signal: AbortSignal): Promise<void> {
  await Promise.all(Array.from({ length: MANY }, () => setTimeout(1, undefined, { signal })));
}

/** The warnings of Node during `act`. */
async function warningsOf(act: () => Promise<unknown>): Promise<string[]> {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => void warnings.push(name);
  process.on('warning', onWarning);
  try {
    await act();
    await setImmediate();
  } finally {
    process.off('warning', onWarning);
  }
  return warnings;
}

/** All signals that the library uses from now on. */
function observeSignals(): ReadonlySet<AbortSignal> {
  const signals = new Set<AbortSignal>();
  const { get } = Object.getOwnPropertyDescriptor(AbortController.prototype, 'signal')!;
  const observer = vi.spyOn(AbortController.prototype, 'signal', 'get');
  observer.mockImplementation(function (this: AbortController) {
    const signal = get!.call(this) as AbortSignal;
    signals.add(signal);
    return signal;
  });
  onTestFinished(() => observer.mockRestore());
  return signals;
}

/** Its listeners, and the references of Node 20 to the signals that AbortSignal.any() has derived from it. */
function sizeOf(signal: AbortSignal): number {
  const key = Object.getOwnPropertySymbols(signal).find(({ description }) => description === 'kDependantSignals');
  const derived = key && (signal as unknown as Record<symbol, Set<unknown> | null>)[key];
  return getEventListeners(signal, 'abort').length + (derived?.size ?? 0);
}

describeEngines('Node warns of no leak', (setup) => {
  it('if a handler gives the signal of its job to many calls', async () => {
    const world = await setup();
    const { producer } = await world.start({ handlers: { q: ({ signal }: JobContext) => useManyTimes(signal) } });

    const warnings = await warningsOf(() => producer.request('q', 0));

    expect(warnings).toEqual([]);
  });

  it('if many calls wait for jobs with one signal', async () => {
    const world = await setup();
    const { producer } = await world.start({ handlers: { q: () => 'done' } });
    const jobs = await producer.enqueueMany('q', plainJobs(MANY));
    const { signal } = new AbortController();

    const warnings = await warningsOf(() => Promise.all(jobs.map(({ id }) => producer.waitFor(id, { signal }))));

    expect(warnings).toEqual([]);
  });

  it('if a blob store gives the signal of a call to many calls', async () => {
    const world = await setup();
    const { store } = await blobsFor(world);
    const put: BlobStore['put'] = async (key, content, options) => {
      await useManyTimes(options.signal);
      await store.put(key, content, options);
    };
    const { producer } = await world.start({
      blobs: { store: { ...store, put, get: store.get.bind(store) }, over: 10 },
    });

    const warnings = await warningsOf(() => producer.enqueue('q', 'longer than ten bytes'));

    expect(warnings).toEqual([]);
  });

  it('before a signal has the number of listeners that its caller allows, also if calls wait with it', async () => {
    const world = await setup();
    const { producer } = await world.start({ handlers: { q: () => 'done' } });
    const jobs = await producer.enqueueMany('q', plainJobs(1));
    const { signal } = new AbortController();
    setMaxListeners(3, signal);

    await producer.waitFor(jobs[0]!.id, { signal });

    expect(getMaxListeners(signal)).toBe(3);
  });
});

describeEngines('a process that receives many notifications', (setup) => {
  it('keeps nothing of those that it has received', async () => {
    const signals = observeSignals();
    const world = await setup();
    const settings = { queues: { q: { events: true } }, worker: { poll: { min: '1h', max: '1h' } } } as const;
    const { workerChannel } = await world.start({ ...settings, handlers: { q: () => 'done' } });
    const { producer, waiterChannel, eventChannel, listenAnywhere } = await world.start({
      ...settings,
      autoStart: false,
    });
    const anywhere = await listenAnywhere();

    for (let count = 1; count <= MANY; count++) {
      await producer.request('q', 0);
      await anywhere.untilCount(count, 'completed');
    }

    for (const { received } of [workerChannel, waiterChannel, eventChannel])
      expect(received.length).toBeGreaterThanOrEqual(MANY / 2);
    expect(Math.max(...[...signals].map(sizeOf))).toBeLessThan(MANY / 4);
  });
});

describe('Node warns of no leak', () => {
  it('if a test gives the signal of createJobContext to many calls', async () => {
    const { signal } = createJobContext({});

    expect(await warningsOf(() => useManyTimes(signal))).toEqual([]);
  });
});
