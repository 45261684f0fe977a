import type { QueueAdmin } from '../../lib/admin/queue-admin.js';
import type { JobSelection } from '../../lib/admin/job-selection.js';
import type { BulkOptions } from '../../lib/job/bulk-options.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { InvalidOptionsError } from '../../lib/job/errors.js';
import { describeEngines, gate, plainJobs, type World } from '../support/engines.js';

/** Jobs of queue q: waiting, scheduled and completed ones. */
async function withJobs(world: World) {
  const engine = await world.start({ handlers: { q: ({ payload }: JobContext<number>) => payload } });
  const completed = await engine.producer.enqueueMany('q', plainJobs(3));
  await engine.runner.whenIdle();
  await engine.runner.stop();
  const scheduled = await engine.producer.enqueueMany('q', plainJobs(3, { delay: '1h' }));
  const waiting = await engine.producer.enqueueMany('q', plainJobs(2));
  const idsOf = (jobs: readonly { id: number }[]) => jobs.map(({ id }) => id);
  return { ...engine, completed: idsOf(completed), scheduled: idsOf(scheduled), waiting: idsOf(waiting) };
}

describeEngines('admin.promote', (setup) => {
  it('makes the scheduled jobs of a filter due, and no others', async () => {
    const world = await setup();
    const { admin } = await withJobs(world);

    expect(await admin.promote({ queue: 'q' })).toBe(3);
    expect(await admin.counts('q')).toMatchObject({ waiting: 5, scheduled: 0, completed: 3 });
  });

  it('makes the scheduled jobs of a list of ids due, and emits an event for each', async () => {
    const world = await setup();
    const { admin, bus, events, scheduled, waiting, completed } = await withJobs(world);
    events.listenTo(bus, ['promoted']);

    const promoted = await admin.promote([scheduled[1]!, waiting[0]!, completed[0]!, 4_711]);

    expect([promoted, events.jobs('promoted')]).toEqual([1, [scheduled[1]]]);
  });
});

describeEngines('admin.cancel with several jobs', (setup) => {
  it('cancels waiting, scheduled and running jobs of a filter', async () => {
    const world = await setup();
    const started = gate();
    const { producer, admin, events } = await world.start({
      handlers: {
        q: async ({ signal }: JobContext) => {
          started.open();
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          signal.throwIfAborted();
        },
      },
    });
    await producer.enqueueMany('q', [...plainJobs(3), ...plainJobs(2, { delay: '1h' })]);
    await started.opened;

    const cancelled = await admin.cancel({ queue: 'q' });
    await events.untilCount(5, 'cancelled');

    expect(cancelled).toBe(5);
    expect(await admin.counts('q')).toMatchObject({ waiting: 0, scheduled: 0, active: 0, cancelled: 5 });
  });

  it('cancels those jobs of a list that are not finished', async () => {
    const world = await setup();
    const { admin, waiting, scheduled, completed } = await withJobs(world);

    expect(await admin.cancel([...waiting, scheduled[0]!, ...completed])).toBe(3);
    expect(await admin.counts('q')).toMatchObject({ waiting: 0, scheduled: 2, completed: 3, cancelled: 3 });
  });
});

describeEngines('admin.retry', (setup) => {
  it('starts completed jobs anew if the filter names their state', async () => {
    const world = await setup();
    const { admin, completed } = await withJobs(world);

    const skipped = await admin.retry(completed);
    const retried = await admin.retry({ queue: 'q', state: 'completed' });

    expect([skipped, retried]).toEqual([0, 3]);
    expect(await admin.get(completed[0]!)).toMatchObject({ state: 'waiting', attempt: 0, result: null });
  });

  it('starts completed jobs of a list anew with the option completed', async () => {
    const world = await setup();
    const { admin, completed, scheduled } = await withJobs(world);

    expect(await admin.retry([...completed, ...scheduled], { completed: true, to: 'again', create: true })).toBe(3);
    expect(await admin.counts('again')).toMatchObject({ waiting: 3 });
  });
});

describeEngines('an admin action on several jobs', (setup) => {
  it.each([
    ['promote', 3],
    ['cancel', 5],
    ['remove', 8],
    ['retry', 3],
  ] as const)('counts with dryRun the jobs that %s would change, and changes none', async (verb, count) => {
    const world = await setup();
    const { admin, scheduled, waiting, completed } = await withJobs(world);
    const before = await admin.counts('q');

    const act = actionOf(admin, verb);
    const byFilter = await act({ queue: 'q' }, { dryRun: true });
    const byIds = await act([...scheduled, ...waiting, ...completed, 4_711], { dryRun: true });

    expect([byFilter, byIds, await admin.counts('q')]).toEqual([count, count, before]);
    expect(await act({ queue: 'q' })).toBe(count);
  });

  it.each(['promote', 'cancel', 'remove', 'retry'] as const)('%s changes at most `limit` jobs', async (verb) => {
    const world = await setup();
    const { admin } = await withJobs(world);

    const act = actionOf(admin, verb);

    expect(await act({ queue: 'q' }, { limit: 2 })).toBe(2);
    expect(await act({ queue: 'q' }, { limit: 1, dryRun: true })).toBe(1);
  });

  it('goes on after jobs that it cannot change until it has changed `limit` jobs', async () => {
    const world = await setup();
    const { admin, completed, scheduled } = await withJobs(world);

    expect(await admin.promote([...completed, ...scheduled], { limit: 2 })).toBe(2);
  });

  it('reports its progress after each batch, and ends before the next one if its signal is aborted', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    await producer.enqueueMany('q', plainJobs(1_200));
    const ending = new AbortController();
    const progress: number[] = [];
    const onProgress = (changed: number) => {
      progress.push(changed);
      if (changed === 1_000) ending.abort(new Error('enough'));
    };

    const removing = admin.remove({ queue: 'q' }, { onProgress, signal: ending.signal });

    await expect(removing).rejects.toThrow('enough');
    expect([progress, (await admin.counts('q')).waiting]).toEqual([[500, 1_000], 200]);
  });

  it('takes a signal that another implementation of AbortSignal made, as waits do', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    const job = await producer.enqueue('q', 0);
    const { signal: own } = new AbortController();
    const signal = {
      aborted: false,
      addEventListener: own.addEventListener.bind(own),
      removeEventListener: own.removeEventListener.bind(own),
      throwIfAborted: own.throwIfAborted.bind(own),
    } as AbortSignal;

    expect(await admin.obliterate('q', { dryRun: true, signal })).toBe(1);
    expect(await admin.cancel({ queue: 'q' }, { signal })).toBe(1);
    await expect(producer.waitFor(job.id, { signal })).rejects.toMatchObject({ code: 'JOB_CANCELLED' });
  });

  it('names each invalid option', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });
    const wrong: [options: unknown, problem: RegExp][] = [
      [{ dryRun: 1 }, /dryRun to be true or false/],
      [{ limit: 0 }, /limit to be a whole number/],
      [{ onProgress: 'log' }, /onProgress to be a function/],
      [{ signal: {} }, /signal to be an AbortSignal/],
      [{ dry: true }, /unknown option "dry" \(known: dryRun/],
      [7, /options to be an object/],
    ];

    for (const verb of ['promote', 'cancel', 'remove', 'retry'] as const) {
      for (const [options, problem] of wrong) {
        const act = actionOf(admin, verb);
        const refused = await act({ queue: 'q' }, options as never).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(InvalidOptionsError);
        expect((refused as Error).message).toMatch(problem);
      }
    }
    await expect(admin.promote({ state: 'waiting' })).rejects.toThrow(/state to be one of scheduled/);
    await expect(admin.cancel(1 as never, { dryRun: true })).rejects.toThrow(/no options but manager for a single id/);
    await expect(admin.cancel({ state: 'dead' })).rejects.toThrow(/state to be one of scheduled, waiting/);
  });
});

type Verb = 'promote' | 'cancel' | 'remove' | 'retry';

/** The verb for several jobs. */
function actionOf(admin: QueueAdmin, verb: Verb) {
  return (which: Exclude<JobSelection, number>, options?: BulkOptions) =>
    verb === 'cancel' ? admin.cancel(which, options) : admin[verb](which, options);
}
