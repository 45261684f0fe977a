import { resolveQueueOptions } from '../../lib/job/queue-options.js';
import type { ChosenStrategy } from '../../lib/store/verbs/job-store.js';
import type { Rescuer } from '../../lib/worker/complete/rescuer.js';
import type { QueueWorkers } from '../../lib/worker/queue/queue-workers.js';
import { WorkerLockHolder } from '../../lib/worker/worker-lock-holder.js';
import type { WorkerParts } from '../../lib/worker/worker-parts.js';
import { FakeClock } from '../support/fake-clock.js';

function setup() {
  let lockCount = 0;
  const lock = { id: 1, lostSignal: new AbortController().signal, ping: () => {}, release: () => Promise.resolve() };
  const parts = {
    stores: {
      workerLocks: {
        acquire: () => {
          lockCount++;
          return Promise.resolve(lock);
        },
        rescue: () => Promise.resolve([]),
      },
    },
    clock: new FakeClock(),
    logger: { log: () => {}, warn: () => {}, error: () => {}, debug: () => {} },
    optionsFor: () => resolveQueueOptions(),
  } as unknown as WorkerParts;
  const rescuer = { rescue: () => Promise.resolve(0) } as unknown as Rescuer;
  const queues = { byName: new Map() } as unknown as QueueWorkers;
  const holder = new WorkerLockHolder(parts, 'w', rescuer, queues, { all: [] });
  return { holder, lockCount: () => lockCount };
}

const BY_LOCK = strategiesOf('lock');

function strategiesOf(name: ChosenStrategy['name']): ReadonlyMap<string, ChosenStrategy> {
  return new Map([['q', { name, mayShareTransaction: false }]]);
}

describe('the holder of the lock of a worker', () => {
  it('acquires no lock for a queue that needs none', async () => {
    const { holder, lockCount } = setup();

    await holder.acquireFor(strategiesOf('skip-locked'));

    expect(lockCount()).toBe(0);
  });

  it('acquires one lock if a queue that could not be added is added again', async () => {
    const { holder, lockCount } = setup();

    await holder.acquireFor(BY_LOCK);
    await holder.acquireFor(BY_LOCK);

    expect(lockCount()).toBe(1);
    await holder.stop();
  });
});
