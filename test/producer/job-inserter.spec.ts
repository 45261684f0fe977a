import { systemClock } from '../../lib/common/clock.js';
import { isTurnLong, nextTurn } from '../../lib/common/turn.js';
import { resolveQueueOptions } from '../../lib/job/queue-options.js';
import { JobInserter } from '../../lib/producer/job-inserter.js';
import type { ProducerParts } from '../../lib/producer/producer-parts.js';
import { newJob } from '../support/jobs.js';

const QUEUES = ['a', 'b', 'c'];

describe('jobs that are stored', () => {
  it('are announced in parts, between which the event loop runs, if they are of several queues', async () => {
    let turn = 0;
    const turns: number[] = [];
    const inserter = inserterWith({
      wake: () => {
        turns.push(turn);
        setImmediate(() => turn++);
        while (!isTurnLong());
      },
    });

    await inserter.insert(
      'enqueueMany',
      QUEUES.map((queue) => newJob({ queue })),
      undefined,
    );

    expect(new Set(turns).size).toBe(QUEUES.length);
  });

  it('are given to listeners in parts, between which the event loop runs, if they are many', async () => {
    let turn = 0;
    const turns: number[] = [];
    const emitChanges = (_event: unknown, jobs: readonly unknown[]) => {
      turns.push(...jobs.map(() => turn));
      setImmediate(() => turn++);
      while (!isTurnLong());
    };
    const inserter = inserterWith({}, undefined, emitChanges);

    await inserter.insert(
      'enqueueMany',
      Array.from({ length: 3_000 }, () => newJob()),
      undefined,
    );

    expect(turns).toHaveLength(3_000);
    expect(new Set(turns).size).toBe(3);
  });

  it('are announced in the turn of their commit if they are of one queue', async () => {
    const announced: boolean[] = [];
    let isNextTurn = false;
    const inserter = inserterWith({ wake: () => announced.push(isNextTurn) }, () => {
      setImmediate(() => (isNextTurn = true));
      while (!isTurnLong());
    });

    await inserter.insert('enqueueMany', [newJob(), newJob()], undefined);

    expect(announced).toEqual([false]);
  });

  it('can be any number of delayed ones', async () => {
    const delays: number[] = [];
    const inserter = inserterWith({ expectDue: (_queue, ms) => delays.push(ms) });
    const jobs = Array.from({ length: 200_000 }, (_, n) => newJob({ delayMs: 200_000 - n }));

    await inserter.insert('enqueueMany', jobs, undefined);

    expect(delays).toEqual([1]);
  });
});

function inserterWith(
  notifier: { wake?: () => void; expectDue?: (queue: string, ms: number) => void },
  onEnqueued = () => undefined as void,
  emitChanges: (event: unknown, jobs: readonly unknown[]) => void = () => undefined,
): JobInserter {
  const store = {
    afterCommit: (_manager: unknown, act: () => void) => act(),
    enqueue: async (jobs: readonly unknown[]) => {
      await nextTurn();
      onEnqueued();
      return jobs.map((_, index) => index + 1);
    },
  };
  const parts = {
    store,
    clock: systemClock,
    optionsFor: () => resolveQueueOptions({}),
    notifier: {
      serves: () => true,
      prepare: () => undefined,
      wake: () => undefined,
      expectDue: () => undefined,
      ...notifier,
    },
    events: { hasAnyListener: true, emitChanges },
  };
  return new JobInserter(parts as unknown as ProducerParts);
}
