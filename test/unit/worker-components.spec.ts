import { resolveQueueOptions } from '../../lib/job/queue-options.js';
import { HandlerTable } from '../../lib/worker/run/handler-table.js';
import { WorkerComponents } from '../../lib/worker/worker-components.js';
import { resolveWorkerOptions } from '../../lib/worker/worker-options.js';
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
    random: () => 0,
    handlers: new HandlerTable(),
    workerOptions: resolveWorkerOptions(),
    optionsFor: () => resolveQueueOptions(),
    instrumentations: {},
    codeSchedules: { declared: new Map() },
    pruneTasks: [],
  } as unknown as WorkerParts;
  return { components: new WorkerComponents('w', parts, [], () => false), lockCount: () => lockCount };
}

describe('a worker whose queue by lock could not be added', () => {
  it('acquires no lock for a later queue that needs none', async () => {
    const { components, lockCount } = setup();
    await components.strategies.choose(['by lock']);

    await components.strategies.choose(['other']);
    await components.acquireLockIfNeeded(['other']);

    expect(lockCount()).toBe(0);
  });

  it('acquires one lock if the queue is added again', async () => {
    const { components, lockCount } = setup();
    await components.strategies.choose(['by lock']);

    await components.acquireLockIfNeeded(['by lock']);
    await components.acquireLockIfNeeded(['by lock']);

    expect(lockCount()).toBe(1);
    await components.releaseLock();
  });
});
