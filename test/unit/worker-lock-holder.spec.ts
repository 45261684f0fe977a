import { resolveQueueOptions } from '../../lib/job/queue-options.js';
import type { Rescuer } from '../../lib/worker/complete/rescuer.js';
import { QueueStrategies } from '../../lib/worker/queue/queue-strategies.js';
import type { QueueWorkers } from '../../lib/worker/queue/queue-workers.js';
import { WorkerLockHolder } from '../../lib/worker/worker-lock-holder.js';
import type { WorkerParts } from '../../lib/worker/worker-parts.js';
import { FakeClock } from '../support/fake-clock.js';

function setup() {
  let lockCount = 0;
  const lock = { id: 1, lostSignal: new AbortController().signal, ping: () => {}, release: () => Promise.resolve() };
  const strategyOf = (queue: string) => ({
    name: queue === 'by lock' ? 'lock' : 'skip-locked',
    mayShareTransaction: true,
  });
  const parts = {
    stores: {
      jobs: {
        chooseStrategies: (requested: ReadonlyMap<string, unknown>) =>
          Promise.resolve({ byQueue: new Map([...requested.keys()].map((queue) => [queue, strategyOf(queue)])) }),
      },
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
  const strategies = new QueueStrategies(parts.stores.jobs, parts.logger, parts.optionsFor);
  const rescuer = { rescue: () => Promise.resolve(0) } as unknown as Rescuer;
  const holder = new WorkerLockHolder(parts, 'w', rescuer, strategies, {} as QueueWorkers, { claims: [] });
  return { strategies, holder, lockCount: () => lockCount };
}

describe('a worker whose queue by lock could not be added', () => {
  it('acquires no lock for a later queue that needs none', async () => {
    const { strategies, holder, lockCount } = setup();
    await strategies.choose(['by lock']);

    await strategies.choose(['other']);
    await holder.acquireFor(['other']);

    expect(lockCount()).toBe(0);
  });

  it('acquires one lock if the queue is added again', async () => {
    const { strategies, holder, lockCount } = setup();
    await strategies.choose(['by lock']);

    await holder.acquireFor(['by lock']);
    await holder.acquireFor(['by lock']);

    expect(lockCount()).toBe(1);
    await holder.stop();
  });
});
