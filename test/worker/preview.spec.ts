import type { QueueAdmin } from '../../lib/admin/queue-admin.js';
import type { JobPreview } from '../../lib/admin/preview-jobs.js';
import type { BulkVerb } from '../../lib/job/changed-states.js';
import { UnrecoverableError } from '../../lib/job/errors.js';
import { JOB_STATES, type JobState } from '../../lib/job/job-state.js';
import type { ReplayOptions } from '../../lib/job/replay-options.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, plainJobs, type World } from '../support/engines.js';

const UNKNOWN_ID = 4_711_000;

function fail({ payload }: JobContext<string>): void {
  if (payload === 'dead') throw new Error('it fails');
  if (payload === 'unrecoverable') throw new UnrecoverableError('it never succeeds');
}

/** Jobs of queue q: one in each state, and a further dead one that is unrecoverable. */
async function withEachState(world: World) {
  const engine = await world.start({ queues: { q: { retry: { attempts: 1 } } }, handlers: { q: fail } });
  const { producer, admin, runner, consumer } = engine;
  const put = async (payload: string, delay?: '1h') =>
    (await producer.enqueue('q', payload, { ...(delay && { delay }) })).id;
  const finished = [await put('completed'), await put('dead'), await put('unrecoverable')];
  await runner.whenIdle();
  await runner.stop();
  const active = await put('active');
  await consumer.claim('q', { owner: 'ann', lease: '1h' });
  const cancelled = await put('cancelled');
  await admin.cancel(cancelled);
  const idle = [await put('waiting'), await put('scheduled', '1h')];
  await producer.flow((flow) => flow.add('q', 'blocked', { after: flow.add('other', 'needed') }));
  const { jobs } = await admin.find({ queue: 'q', state: 'blocked' });
  const ids = [...finished, active, cancelled, ...idle, jobs[0]!.id];
  return { ...engine, ids };
}

const one = { value: 1, atLeast: false };
const count = (value: number) => ({ value, atLeast: false });

describeEngines('the preview of an action on several jobs', (setup) => {
  it.each([
    ['promote', 1, ['waiting', 'active', 'blocked', 'completed', 'dead', 'cancelled']],
    ['cancel', 4, ['completed', 'dead', 'cancelled']],
    ['remove', 7, ['active']],
    ['retry', 3, ['waiting', 'active', 'blocked', 'completed', 'unrecoverable']],
  ] as const)(
    'counts the jobs of a filter that %s changes, and those that it skips by reason',
    async (verb, n, skips) => {
      const { admin } = await withEachState(await setup());
      const before = await admin.counts('q');

      const preview = await admin.preview(verb, { queue: 'q' });

      const several = { dead: 2 } as Record<string, number>;
      const expected = Object.fromEntries(skips.map((reason) => [reason, count(several[reason] ?? 1)]));
      expect(preview).toEqual({ changes: count(n), skips: expected });
      expect(await admin.counts('q')).toEqual(before);
      expect(await act(admin, verb, { queue: 'q' }, { dryRun: true })).toBe(n);
      expect(await act(admin, verb, { queue: 'q' })).toBe(n);
    },
  );

  it.each(['promote', 'cancel', 'remove', 'retry'] as const)(
    'counts of jobs with ids those that %s changes, whatever their states are',
    async (verb) => {
      const { admin, ids } = await withEachState(await setup());
      const states = await admin.states([...ids, UNKNOWN_ID]);

      const preview = await admin.preview(verb, [...ids, ids[0]!, UNKNOWN_ID]);
      const counted = await act(admin, verb, [...ids, UNKNOWN_ID], { dryRun: true });
      const changed = await act(admin, verb, [...ids, UNKNOWN_ID]);

      expect(new Set(states.map(({ state }) => state))).toEqual(new Set(JOB_STATES));
      expect([preview.changes, counted]).toEqual([count(changed), changed]);
      expect(preview.skips.unknown).toEqual(one);
      expect(total(preview)).toBe(ids.length + 1);
    },
  );

  it.each([{ rate: '10/s' }, { to: 'other', create: true }, { completed: true }, {}] as const)(
    'counts the jobs that a retry with %j changes',
    async (options) => {
      const { admin, ids } = await withEachState(await setup());
      const { create: _, ...kind } = options as ReplayOptions & { create?: boolean };

      const byFilter = await admin.preview('retry', { queue: 'q' }, kind);
      const byIds = await admin.preview('retry', ids, kind);

      expect(await admin.retry({ queue: 'q' }, { ...options, dryRun: true })).toBe(byFilter.changes.value);
      expect(byFilter.skips.scheduled).toEqual(Object.keys(kind).length > 0 ? one : undefined);
      expect(byFilter.skips.unrecoverable).toEqual(one);
      expect(await admin.retry(ids, options)).toBe(byIds.changes.value);
    },
  );

  it('has active jobs that a removal skips, and all of an error or a state that a retry names', async () => {
    const { admin } = await withEachState(await setup());

    expect(await admin.preview('remove', { queue: 'q', state: 'active' })).toEqual({
      changes: count(0),
      skips: { active: one },
    });
    expect(await admin.preview('retry', { queue: 'q', error: 'UNRECOVERABLE' })).toMatchObject({ changes: one });
    expect(await admin.preview('retry', { queue: 'q', state: 'completed' })).toEqual({ changes: one, skips: {} });
  });

  it.each([0, 1, 2, 1_000, 20_000])('counts up to 10,000 of %i jobs', async (jobs) => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    await producer.enqueue('other', 0);
    const enqueued = await producer.enqueueMany('q', plainJobs(jobs, { delay: '1h' }));
    await producer.enqueueMany('q', plainJobs(jobs));
    const ids = enqueued.map(({ id }) => id);
    const counted = { value: Math.min(jobs, 10_000), atLeast: jobs > 10_000 };
    const which = jobs === 0 ? { all: true as const } : { queue: 'q' };

    const byFilter = await admin.preview('promote', which);
    const byIds = await admin.preview('promote', ids);

    expect(byFilter).toEqual({ changes: counted, skips: { waiting: jobs === 0 ? one : counted } });
    expect(byIds).toEqual({ changes: count(jobs), skips: {} });
  });

  it('ends after a bounded number of rows of a state if few jobs match, and counts those of the next state', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    await producer.enqueue('q', 0, { name: 'last' });
    await admin.cancel({ queue: 'q', name: 'last' });
    for (let n = 0; n < 3; n++) await producer.enqueueMany('q', plainJobs(15_000, { delay: '1h' }));
    await producer.enqueue('q', 0, { name: 'last', delay: '2h' });

    const promoted = await admin.preview('promote', { queue: 'q', name: 'last' });
    const retried = await admin.preview('retry', { queue: 'q', name: 'last' });

    expect(promoted.changes).toEqual({ value: 0, atLeast: true });
    expect(retried.changes).toEqual({ value: 1, atLeast: true });
  });

  it('counts each of the given jobs once while a worker runs them', async () => {
    const world = await setup();
    const { admin, producer, runner } = await world.start({ handlers: { q: fail }, autoStart: false });
    const ids = (await producer.enqueueMany('q', plainJobs(400))).map(({ id }) => id);
    await runner.start();
    const work = { isDone: false };
    void runner.whenIdle().then(() => (work.isDone = true));

    const totals = new Set<number>();
    const unknown = new Set<unknown>();
    while (!work.isDone) {
      const preview = await admin.preview('cancel', ids);
      totals.add(total(preview));
      unknown.add(preview.skips.unknown);
      await admin.preview('cancel', { queue: 'q' });
    }

    expect([...totals, ...unknown]).toEqual([400, undefined]);
    expect(await admin.preview('cancel', ids)).toEqual({ changes: count(0), skips: { completed: count(400) } });
  });

  it('rejects as its verb does', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });

    await expect(admin.preview('cancel', { queue: 'unknown' })).rejects.toMatchObject({ code: 'QUEUE_NOT_FOUND' });
    await expect(admin.preview('cancel', {})).rejects.toThrow(/at least one of queue/);
    await expect(admin.preview('cancel', [1.5])).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    await expect(admin.preview('move' as never, [1])).rejects.toThrow(
      /verb to be one of retry, promote, cancel, remove/,
    );
    await expect(admin.preview('cancel', [1], { rate: '1/s' })).rejects.toThrow(/no options for cancel/);
    await expect(admin.preview('retry', [1], { rate: 'fast' as never })).rejects.toThrow(/rate to be like/);
    await expect(admin.preview('retry', [1], { to: 'unknown' })).rejects.toMatchObject({ code: 'QUEUE_NOT_FOUND' });
    expect(await admin.preview('retry', [1], { to: 'unknown', create: true })).toMatchObject({ changes: count(0) });
    await expect(admin.preview('cancel', { state: 'dead' })).rejects.toThrow(/state to be one of scheduled, waiting/);
    await expect(admin.preview('retry', { state: 'scheduled' }, { rate: '1/s' })).rejects.toThrow(/one of dead, canc/);
  });
});

function total({ changes, skips }: JobPreview): number {
  return Object.values(skips).reduce((sum, { value }) => sum + value, changes.value);
}

type Which = readonly number[] | { queue: string; state?: JobState };

function act(admin: QueueAdmin, verb: BulkVerb, which: Which, options: { dryRun?: boolean } = {}): Promise<number> {
  return verb === 'cancel' ? admin.cancel(which, options) : admin[verb](which, options);
}
