import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { runInClient } from '../support/database-client.js';
import { describeEngines, type World } from '../support/engines.js';

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/other-languages.md'), 'utf8');

/** The SQL of the guide, by heading. */
const BLOCKS = new Map(
  [...GUIDE.matchAll(/^### (.+)$[^]*?^```sql\n([^]*?)^```$/gm)].map(([, heading, sql]) => [heading!, sql!]),
);

const START = 'Once, when the program starts';
// The effect of an expired lease between two blocks.
const RESCUED = `UPDATE sql_queue_jobs SET state = 'waiting', claim_id = 0; DELETE FROM sql_queue_claims;`;

describeEngines(
  `the SQL of the guide for other languages, in the client of the database,`,
  (setup, server) => {
    // Skipped on a machine without a client.
    const itWithClient = server.client === undefined ? it.skip : it;

    itWithClient('enqueues jobs with headers, priorities and delays, which a handler runs', async () => {
      const world = await setup();
      const { admin, runner, events } = await world.start({
        ...{ handlers: { 'photo.resize': (job: JobContext) => job.headers['trace'] ?? 'none' }, autoStart: false },
      });

      await type(world, 'A job', 'A job with everything', 'A delayed job');
      const counts = await admin.counts('photo.resize');
      await runner.start();
      await events.untilCount(2, 'completed');
      world.advance(60_000);
      await events.untilCount(3, 'completed');

      expect(counts).toMatchObject({ waiting: 2, scheduled: 1 });
      expect((await admin.find({ state: 'completed' })).jobs).toMatchObject([
        { payload: { photo: 7 }, name: 'default', result: 'none', maxAttempts: 3 },
        { payload: { photo: 8 }, name: 'thumbnail', result: '4bf92f35', priority: -1, maxAttempts: 3 },
        { payload: { photo: 9 }, result: 'none' },
      ]);
    });

    itWithClient('claims the first job by priority, extends its lease, and completes it', async () => {
      const world = await setup();
      const { admin } = await world.start({ autoStart: false });
      await type(world, 'A job', 'A job with everything');

      const output = await type(world, START, 'Claim', 'Heartbeat', 'Complete');

      expect(output).toMatch(/^0\n2\tthumbnail\t\{"photo":8\}\t\{"trace":"4bf92f35"\}\t1\t3\nNULL\n$/);
      expect(await admin.get(2)).toMatchObject({
        ...{
          state: 'completed',
          worker: 'resizer-1',
          attempt: 1,
          result: { width: 640 },
          headers: { trace: '4bf92f35' },
        },
        ...{ startedAt: expect.any(Date), finishedAt: expect.any(Date) },
      });
      expect(await admin.counts('photo.resize')).toMatchObject({ waiting: 1, active: 0, completed: 1 });
      expect(await world.sql('SELECT * FROM sql_queue_claims')).toEqual([]);
    });

    itWithClient('completes a job of a flow, and the job that waits for it is freed', async () => {
      const world = await setup();
      const { admin, producer, flows } = await world.start({ autoStart: false });
      const flow = await producer.flow((f) =>
        f.add('after', 0, { after: f.add('photo.resize', { photo: 8 }, { name: 'thumbnail' }) }),
      );

      await type(world, START, 'Claim', 'Complete', 'A job of a flow');
      await flows.sweep(() => 60_000);

      expect((await admin.flow(flow.id))!.jobs.map(({ state }) => state)).toEqual(['completed', 'waiting']);
      expect(await flows.children(flow.jobs[1]!.id, 0, 10)).toMatchObject([{ result: { width: 640 } }]);
    });

    itWithClient('claims no job from a queue without waiting jobs, and reports a pause', async () => {
      const world = await setup();
      const { admin } = await world.start({ autoStart: false });
      await admin.pause('photo.resize', { create: true });

      const output = await type(world, START, 'A delayed job', 'Claim');

      expect(output).toBe('1\n');
      expect(await world.sql('SELECT * FROM sql_queue_claims')).toEqual([]);
    });

    itWithClient('fails a job until it is dead, while Nest promotes its retries', async () => {
      const world = await setup();
      const { admin, store } = await world.start({ autoStart: false });
      await type(world, START, 'A job with everything');

      const states: unknown[] = [];
      for (let attempt = 1; attempt <= 3; attempt++) {
        await type(world, START, 'Claim', 'Fail');
        const job = await admin.get(1);
        states.push([job?.state, job?.attempt, job?.error?.message]);
        world.advance(30_000);
        await store.promote(10);
      }

      const why = 'no such file';
      expect(states).toEqual([
        ['scheduled', 1, why],
        ['scheduled', 2, why],
        ['dead', 3, why],
      ]);
      expect(await world.sql('SELECT * FROM sql_queue_jobs')).toEqual([]);
    });

    itWithClient('releases a job without a lost attempt', async () => {
      const world = await setup();
      const { admin } = await world.start({ autoStart: false });

      await type(world, START, 'A job', 'Claim', 'Release');

      expect(await admin.get(1)).toMatchObject({ state: 'waiting', attempt: 0 });
      expect(await world.sql('SELECT * FROM sql_queue_claims')).toEqual([]);
    });

    itWithClient.each(['Complete', 'Fail', 'Release'])('changes no job after a lost lease: %s', async (end) => {
      const world = await setup();
      const { admin } = await world.start({ autoStart: false });

      await runInClient(world, `${sqlOf(START, 'A job', 'Claim')} ${RESCUED} ${sqlOf('Heartbeat', end)}`);

      expect(await admin.get(1)).toMatchObject({ state: 'waiting', attempt: 1, error: null });
      expect(await world.sql('SELECT * FROM sql_queue_history')).toEqual([]);
    });

    itWithClient('shares a queue with handlers, which rescue jobs of an ended program', async () => {
      const world = await setup();
      const { admin, runner, events } = await world.start({
        ...{ handlers: { 'photo.resize': () => 'by Nest' }, autoStart: false },
      });
      await type(world, START, 'A job', 'Claim');

      world.advance(61_000);
      await runner.start();
      await events.until('completed');

      expect(events.jobs('rescued')).toEqual([1]);
      expect(await admin.get(1)).toMatchObject({ state: 'completed', attempt: 2, result: 'by Nest' });
    });

    itWithClient('includes every SQL block of the guide', () => {
      expect([...GUIDE.matchAll(/^```sql$/gm)]).toHaveLength(BLOCKS.size);
    });
  },
  ['mysql', 'mariadb'],
);

function type(world: World, ...headings: string[]): Promise<string> {
  return runInClient(world, sqlOf(...headings));
}

function sqlOf(...headings: string[]): string {
  return headings.map((heading) => BLOCKS.get(heading)!).join('\n');
}
