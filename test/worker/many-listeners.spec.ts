import { getMaxListeners, setMaxListeners } from 'node:events';
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

describe('Node warns of no leak', () => {
  it('if a test gives the signal of createJobContext to many calls', async () => {
    const { signal } = createJobContext({});

    expect(await warningsOf(() => useManyTimes(signal))).toEqual([]);
  });
});
