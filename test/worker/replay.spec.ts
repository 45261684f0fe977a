import type { JobContext } from '../../lib/worker/run/job-context.js';
import { InvalidOptionsError } from '../../lib/job/errors.js';
import { describeEngines, plainJobs, type World } from '../support/engines.js';

/** Creates `jobs` dead jobs in queue q. */
async function withDead(world: World, jobs: number) {
  const failing = await world.start({ defaults: { retry: 1 }, handlers: { q: () => Promise.reject(new Error('no')) } });
  await failing.producer.enqueueMany('q', plainJobs(jobs));
  await failing.runner.whenIdle();
  await failing.runner.stop();
  return failing.admin;
}

describeEngines('a retry of dead jobs', (setup) => {
  it('spreads all jobs of a filter at the given rate, without a process that stays', async () => {
    const world = await setup();
    const admin = await withDead(world, 1_100);

    const moved = await admin.retry({ queue: 'q', state: 'dead' }, { rate: '100/m' });

    const runAts = await world.sql<{ run_at: string }>(
      'SELECT run_at FROM sql_queue_jobs WHERE run_at > 0 ORDER BY id',
    );
    const last = Number(runAts.at(-1)!.run_at) - Number(runAts[0]!.run_at);
    expect(moved).toBe(1_100);
    expect(await admin.counts('q')).toMatchObject({ dead: 0, waiting: 1, scheduled: 1_099 });
    // The batches begin some milliseconds apart.
    expect(last).toBeGreaterThanOrEqual(1_098 * 600);
    expect(last).toBeLessThan(1_098 * 600 + 30_000);
  });

  it('starts the dead jobs of a list of ids', async () => {
    const world = await setup();
    const admin = await withDead(world, 3);
    const [first, , third] = (await admin.find({ state: 'dead' })).jobs;

    expect(await admin.retry([third!.id, 4_711, first!.id])).toBe(2);
    expect(await admin.counts('q')).toMatchObject({ dead: 1, waiting: 2 });
  });

  it('keeps the ids of jobs that it moves into another queue', async () => {
    const world = await setup();
    const admin = await withDead(world, 2);
    const ids = (await admin.find({ state: 'dead' })).jobs.map(({ id }) => id);
    const { events } = await world.start({ handlers: { again: ({ queue }: JobContext) => queue } });

    await admin.retry({ state: 'dead' }, { to: 'again' });
    await events.untilCount(2, 'completed');

    expect(events.jobs('completed').sort((a, b) => a - b)).toEqual(ids);
  });

  it('skips discarded jobs unless the filter names their error', async () => {
    const world = await setup();
    const { producer, admin, runner } = await world.start({
      defaults: { retry: 1 },
      handlers: { q: (job: JobContext) => (job.payload ? job.discard('for good') : Promise.reject(new Error('no'))) },
    });
    const [discarded] = await producer.enqueueMany('q', [{ payload: 1 }, { payload: 0 }]);
    await runner.whenIdle();
    await runner.stop();

    const replayed = await admin.retry({ state: 'dead' });
    const left = (await admin.find({ state: 'dead' })).jobs;
    const byName = await admin.retry({ state: 'dead', error: 'UNRECOVERABLE' });

    expect([replayed, left.map(({ id }) => id), byName]).toEqual([1, [discarded!.id], 1]);
  });

  it('starts a discarded job if it is named by its id', async () => {
    const world = await setup();
    const { producer, admin, runner } = await world.start({ handlers: { q: (job: JobContext) => job.discard('no') } });
    const { id } = await producer.enqueue('q', 0);
    await runner.whenIdle();
    await runner.stop();

    expect(await admin.retry(id)).toBe(1);
  });

  it('changes no job and names the problem if its arguments are invalid', async () => {
    const world = await setup();
    const admin = await withDead(world, 1);
    const wrong: [which: unknown, options: unknown, problem: RegExp][] = [
      [{}, { rate: 'fast' }, /rate to be like '10\/s'/],
      [{}, { rate: '0/s' }, /rate to be like/],
      [{}, { rate: { jobs: -1, per: '1s' } }, /rate to be like/],
      [{}, { rate: { jobs: 1, every: '1s' } }, /unknown option "every"/],
      [{}, { rate: { jobs: Infinity, per: '1s' } }, /rate to be like/],
      [{}, { to: 'not fine', speed: 1 }, /unknown option "speed"[^]*queue name/],
      [{}, 7, /options to be an object/],
      [{ state: 'scheduled' }, { rate: '1/s' }, /state to be one of dead, cancelled/],
      [{ state: 'active' }, {}, /state to be one of scheduled, dead, cancelled/],
      [{ error: 7 }, {}, /error to be the code or the name/],
      [{ finishedAfter: 'yesterday' }, {}, /finishedAfter to be a Date/],
      [[1, 'two'], {}, /whole number/],
    ];

    for (const [which, options, problem] of wrong) {
      const refused = await admin.retry(which as never, options as never).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(InvalidOptionsError);
      expect((refused as Error).message).toMatch(problem);
    }
    expect(await admin.counts()).toMatchObject({ dead: 1 });
  });
});
