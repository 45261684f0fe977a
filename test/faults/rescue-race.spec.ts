import { describeEngines, gate, plainJobs } from '../support/engines.js';

const LEASE_MS = 30_000;
const JOBS = 60;
const queues = { q: { concurrency: JOBS, lease: LEASE_MS, retry: { attempts: 5, backoff: 0 } } } as const;

describeEngines('jobs with concurrent completion and rescue', (setup) => {
  it('are completed once each, by the first worker or by the second', async () => {
    const world = await setup();
    const { open, opened } = gate();
    const first = await world.start({ queues, handlers: { q: () => opened } });
    const second = await world.start({ queues, handlers: { q: () => 'second' }, autoStart: false });
    const jobs = await first.producer.enqueueMany('q', plainJobs(JOBS));
    await first.events.untilCount(JOBS, 'started');

    await second.runner.start();
    world.advance(LEASE_MS + 1);
    open();
    await second.runner.whenIdle();
    await first.runner.whenIdle();
    await second.runner.whenIdle();

    const completed = [...first.events.jobs('completed'), ...second.events.jobs('completed')];
    expect(completed.sort((a, b) => a - b)).toEqual(jobs.map(({ id }) => id));
    const refused = new Set(first.events.jobs('lost'));
    const before = first.events.of('completed', { attempt: 1 }).map(({ jobId }) => jobId);
    expect(before.filter((id) => refused.has(id))).toEqual([]);
    expect(await first.admin.counts('q')).toMatchObject({ completed: JOBS, active: 0, waiting: 0, scheduled: 0 });
  });
});
