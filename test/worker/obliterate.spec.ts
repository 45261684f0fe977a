import { setTimeout } from 'node:timers/promises';
import { TABLE_SCHEMAS } from '../../lib/store/tables/table-schemas.js';
import { eventually } from '../support/eventually.js';
import { claimFrom, completionBatchOf, completionOf, outcomes } from '../support/jobs.js';
import { describeEngines, gate, plainJobs, untilAborted, type World } from '../support/engines.js';

// The audit names the queue, events are kept for ten minutes, flows until their retention ends, a claim until its worker
// or a rescue deletes it. The sample of the statistics is replaced.
const KEPT = ['audit', 'events', 'edges', 'claims', 'workers', 'stats'];

describeEngines('obliterate()', (setup) => {
  it('leaves nothing of the queue, and takes its running jobs from their workers', async () => {
    const world = await setup();
    const started = gate();
    const aborted = gate();
    const handlers = {
      old: {
        run: async ({ signal }: { signal: AbortSignal }) => {
          started.open();
          await untilAborted(signal);
          aborted.open();
        },
        step: (job: { step: (name: string, work: () => number) => Promise<number> }) => job.step('one', () => 1),
      },
    };
    const queues = { old: { groups: { concurrency: 1 } } };
    await avoidEndOfMinute(world);
    const { producer, admin, schedules, runner, consumer } = await world.start({ handlers, queues });
    await producer.enqueue('old', 0, { name: 'step', key: 'k' });
    await runner.whenIdle();
    await producer.enqueue('old', 0, { name: 'run' });
    await started.opened;
    const { id } = await producer.enqueue('old', 0, { delay: '1h' });
    await producer.enqueue('old', 0, { delay: '1h', group: 'g' });
    await producer.enqueueMany('kept', plainJobs(3));
    await admin.group('old', 'g').limit({ weight: 2 });
    await admin.configure('old', { maxRunning: 5, concurrency: 2 });
    await admin.subscribe('old', { topic: '*' });
    // No tick comes while the test runs.
    await schedules.upsert('leap', { queue: 'old', cron: '0 3 29 2 *' });
    await consumer.claim('kept', { owner: 'ann' });
    const waiting = producer.waitFor(id).catch((error: { code: string }) => error.code);
    // From here on, the removal of the job marks the wait.
    await eventually(async () => (await world.sql('SELECT job_id FROM sql_queue_waits')).length > 0);

    expect(await admin.obliterate('old', { dryRun: true })).toBe(4);
    const removed = await admin.obliterate('old', { confirm: 'old' });
    await aborted.opened;

    expect(removed).toBe(4);
    expect(await waiting).toBe('JOB_NOT_FOUND');
    await runner.stop({ timeout: 0 });
    expect(await tablesWith(world, 'old')).toEqual([]);
    expect(await admin.counts('kept')).toMatchObject({ waiting: 2, active: 1 });
    expect((await admin.audit({ verb: 'obliterate' })).entries).toMatchObject([{ queue: 'old', count: 5 }]);
  });

  it('takes an active job from its worker although its claim lists a thousand jobs that have ended', async () => {
    const world = await setup();
    const { producer, admin, store } = await world.start({ autoStart: false });
    await producer.enqueueMany('old', plainJobs(1_001));
    const claim = await claimFrom(store, { queue: 'old', limit: 1_001, strategy: 'update' });
    const ended = claim.jobs.slice(0, 1_000);
    await store.complete(
      completionBatchOf(ended.map((job) => completionOf(claim, job, outcomes.complete, { retentionMs: false }))),
    );

    expect(await admin.obliterate('old', { confirm: 'old' })).toBe(1);

    expect(await world.sql('SELECT id FROM sql_queue_jobs')).toEqual([]);
    expect(await admin.queues()).toEqual([]);
  });

  it('settles the jobs of other queues that need its jobs', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.flow((f) => f.add('other', 0, { after: f.add('old', 0) }));

    await admin.obliterate('old', { confirm: 'old' });

    expect((await admin.find({ queue: 'other' })).jobs).toMatchObject([{ state: 'cancelled' }]);
  });

  it('goes on after a call that was stopped', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.enqueueMany('old', plainJobs(600));
    const stopped = AbortSignal.abort(new Error('stopped'));

    await expect(admin.obliterate('old', { confirm: 'old', signal: stopped })).rejects.toThrow('stopped');
    expect(await admin.queues()).toMatchObject([{ queue: 'old', paused: true }]);
    expect(await admin.obliterate('old', { confirm: 'old' })).toBe(600);

    expect(await admin.queues()).toEqual([]);
  });

  it('refuses without the name of the queue as a confirmation', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });

    await expect(admin.obliterate('old', {})).rejects.toThrow('expected confirm to be "old", got undefined');
    await expect(admin.obliterate('old', { confirm: 'kept' })).rejects.toThrow('expected confirm to be "old"');
  });
});

/** The tables with a row that names the queue. */
async function tablesWith({ sql }: World, queue: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of Object.keys(TABLE_SCHEMAS).filter((name) => !KEPT.includes(name))) {
    const rows = await sql<object>(`SELECT * FROM sql_queue_${table}`);
    if (rows.some((row) => Object.values(row).includes(queue))) found.push(table);
  }
  return found;
}

/** At the end of a minute a worker saves the metrics of its attempts, also of a queue that is gone by then. */
async function avoidEndOfMinute(world: World): Promise<void> {
  const leftMs = 60_000 - ((await world.now()) % 60_000);
  if (leftMs < 5_000) await setTimeout(leftMs + 100);
}
