import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { account, GUIDE_GRANTS } from '../support/accounts.js';
import { archivedTo } from '../support/archives.js';
import { describeEngines, plainJobs } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { everyLock, everyVerb } from '../support/every-verb.js';
import { FakeClock } from '../support/fake-clock.js';
import { claimFrom, finalBatchOf, newJob, outcomes } from '../support/jobs.js';
import { openStore } from '../../lib/store/open-store.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { systemClock } from '../../lib/common/clock.js';

const GRANTS_ON_SCHEMA = GUIDE_GRANTS.filter((grant) => grant.includes("sql_queue_schema TO 'worker'"));

describeEngines(
  'an account with exactly the documented grants',
  (setup) => {
    it('can create the tables', async () => {
      const world = await setup({ withoutTables: true });
      const migrator = await account(world, 'migrator');

      const { producer } = await world.start({ dataSource: migrator, autoStart: false });

      await expect(producer.enqueue('q', 0)).resolves.toMatchObject({ queue: 'q' });
    });

    it('can enqueue and publish in every way, and can do nothing else', async () => {
      const world = await setup();
      const { admin } = await world.start({ autoStart: false });
      await admin.subscribe('q', { topic: '*' });
      const dataSource = await account(world, 'producer');
      const queues = { q: { maxWaiting: 100, events: true } };

      const engine = await world.start({ dataSource, queues, autoStart: false });
      await engine.producer.enqueue('q', 0);
      await engine.producer.enqueueMany('q', plainJobs(50));
      await engine.producer.enqueue('q', 0, { delay: '1h' });
      await dataSource.transaction((manager) => engine.producer.enqueue('q', 0, { manager }));
      await dataSource.transaction((manager) => engine.producer.publish('user.created', 0, { manager }));
      await engine.producer.publish('user.created', 0);
      await engine.producer.enqueue('q', 0, { key: 'k', keyUntil: 'started' });
      await world.sql(
        `INSERT INTO sql_queue_stages (job_id, queue, stage, priority) SELECT id, queue, 'review', 0 FROM sql_queue_jobs`,
      );
      const replacing = { key: 'k', onConflict: 'replace', subject: 'user:1' } as const;
      const { id: replaced } = await engine.producer.enqueue('q', 0, replacing);
      await world.sql(`INSERT INTO sql_queue_progress VALUES (${replaced}, '1', 0, 1, 1)`);
      await world.sql(
        `INSERT INTO sql_queue_steps (job_id, name, state, expires_at) VALUES (${replaced}, 's', 'done', 1)`,
      );
      await world.sql(
        `INSERT INTO sql_queue_edges (job_id, needs, queue, name, on_failure, fan_out) VALUES (${replaced}, 1e9, 'q', 'n', 'run', 1)`,
      );
      await engine.producer.enqueue('q', 0, replacing);
      expect(await world.sql('SELECT job_id FROM sql_queue_steps')).toEqual([]);
      await dataSource.transaction((manager) =>
        engine.producer.enqueue('q', 0, { key: 'k', onConflict: 'replace', manager }),
      );
      await engine.producer.flow((f) => f.add('q', 0, { after: f.add('q', 0) }));
      await engine.close();

      const [{ jobs }] = (await world.sql<{ jobs: string }>('SELECT COUNT(*) AS jobs FROM sql_queue_jobs')) as [
        { jobs: string },
      ];
      expect(Number(jobs)).toBe(58);
      expect(await world.sql('SELECT id FROM sql_queue_commit_log')).toEqual([]);
      await expect(dataSource.query('DELETE FROM sql_queue_jobs')).rejects.toThrow(/denied/);
      await expect(dataSource.query('DELETE FROM sql_queue_history')).rejects.toThrow(/denied/);
      await expect(dataSource.query('DELETE FROM sql_queue_subscriptions')).rejects.toThrow(/denied/);
    });

    it('can wait for jobs, request results, and cancel waiting and running jobs', async () => {
      const world = await setup();
      const queues = { q: { events: true } };
      await world.start({ queues, handlers: { q: ({ payload }) => payload } });
      const requester = await world.start({ dataSource: await account(world, 'asker'), queues, autoStart: false });
      const { producer } = requester;
      const received = await requester.listenAnywhere();

      expect(await producer.request('q', 'echo')).toBe('echo');
      const { id } = await producer.enqueue('q', 'later', { delay: '1h' });
      const waiting = producer.waitFor(id);
      expect(await producer.cancel(id)).toBe(true);

      await expect(waiting).rejects.toMatchObject({ code: 'JOB_CANCELLED' });
      await received.until('cancelled', { jobId: id });
    });

    it.each(['producer', 'asker'] as const)(
      'can send a signal, and wakes the job that waits for it, as %s',
      async (who) => {
        const world = await setup();
        const queues = { q: { events: true } };
        const handlers = { q: async (job: JobContext) => job.waitFor('go', { key: String(job.id) }) };
        const { producer, events } = await world.start({ queues, handlers });
        const { id } = await producer.enqueue('q', 0);
        await events.until('snoozed');
        const dataSource = await account(world, who);
        const sender = await world.start({ dataSource, queues, autoStart: false });

        expect(await sender.producer.signal('go', String(id), 'now')).toBe(1);
        expect(await events.until('completed')).toMatchObject({ jobId: id, result: 'now' });
        await dataSource.transaction((manager) => sender.producer.signal('go', 'another', 1, { manager }));

        expect(await world.sql('SELECT name FROM sql_queue_signals')).toHaveLength(2);
      },
    );

    it.each(['producer', 'asker'] as const)('warns of a queue without a worker, as %s', async (who) => {
      const world = await setup();
      await world.start({ autoStart: false });
      const clock = new FakeClock();
      const dataSource = await account(world, who);
      const { producer, log } = await world.start({ clock, dataSource, autoStart: false });

      await producer.enqueue('emial', 0);
      for (let looks = 0; looks < 2; looks++) {
        await clock.untilSleeping(30_000);
        await clock.advance(30_000);
      }
      const warnings = await eventually(() => log.filter((line) => line.includes('a worker')).length > 0 && log);

      expect(warnings).toContainEqual(
        expect.stringMatching(/^warn: No worker of any process has served queue "emial"/),
      );
    });

    it('can call every verb of a worker and an admin', async () => {
      const world = await setup();
      await world.start({ autoStart: false });
      const dataSource = await account(world, 'worker');
      const skew = { ms: 0 };
      const store = await openStore({
        ...{ dataSource, clock: systemClock, skew, migrate: 'check' },
        ...{ shortestLeaseMs: 30_000, largestPayloadBytes: 1_048_576 },
        eventOutbox: { emitsEvents: () => true, onEventsCommitted: () => {} },
      });
      world.afterTest(() => store.jobs.close());

      await everyVerb(store, (ms) => void (skew.ms += ms));
      await everyLock(store);

      const queues = { another: { events: true } };
      const worker = await world.start({ dataSource, queues, handlers: { another: () => 'done' } });
      const { producer, log } = worker;
      const received = await worker.listenAnywhere();
      await producer.enqueue('another', 0);
      await received.until('completed');
      expect(log.filter((line) => line.startsWith('error'))).toEqual([]);
      await expect(dataSource.query('DROP TABLE sql_queue_jobs')).rejects.toThrow(/denied/);
    });

    it('can move finished jobs to an archive with SELECT and INSERT privileges', async () => {
      const world = await setup();
      const archives = archivedTo('kept_jobs');
      const common = { clock: systemClock, shortestLeaseMs: 30_000, largestPayloadBytes: 1_048_576, archives };
      const made = await openStore({ ...common, dataSource: world.dataSource, migrate: 'run' });
      world.afterTest(() => made.jobs.close());
      const dataSource = await account(world, 'worker');
      const [{ who }] = await dataSource.query<[{ who: string }]>('SELECT CURRENT_USER() AS who');
      await world.sql(`GRANT SELECT, INSERT ON kept_jobs TO '${who.split('@')[0]}'@'%'`);
      const store = await openStore({ ...common, dataSource, migrate: 'check' });
      world.afterTest(() => store.jobs.close());
      await store.jobs.enqueue([newJob()]);
      const taken = await claimFrom(store.jobs);
      await store.jobs.complete(finalBatchOf(taken, outcomes.complete, { retentionMs: 0 }));

      expect(await store.jobs.prune(10)).toBe(1);
      expect(await world.sql('SELECT state FROM kept_jobs')).toEqual([{ state: 'completed' }]);
    });

    it('starts without a warning if it may not read the tables with the ids of earlier jobs', async () => {
      const world = await setup();
      await world.start({ autoStart: false });

      const { log } = await world.start({ dataSource: await account(world, 'producer'), autoStart: false });

      expect(log.filter((line) => line.includes('ids of new jobs'))).toEqual([]);
    });

    it('receives the statement that raises the ids of new jobs if it may read but not raise them', async () => {
      const world = await setup();
      await world.start({ autoStart: false });
      await world.sql(
        `INSERT INTO sql_queue_progress (job_id, lines_logged, updated_at, expires_at) VALUES (500, 0, 1, 1)`,
      );
      const dataSource = await account(world, 'reader', [`GRANT SELECT ON app.* TO 'reader'@'%'`]);

      const { log } = await world.start({ dataSource, autoStart: false });

      const expected = expect.stringMatching(/^warn: .* Run: ALTER TABLE sql_queue_jobs AUTO_INCREMENT = 501$/);
      expect(log.filter((line) => line.includes('ids of new jobs'))).toEqual([expected]);
    });

    it('receives an error with the guide and `check` if it may not create the tables', async () => {
      const world = await setup({ withoutTables: true });
      await world.sql('CREATE TABLE sql_queue_schema (version INT)');
      const dataSource = await account(world, 'reader', GRANTS_ON_SCHEMA);

      await expect(openAs(dataSource)).rejects.toMatchObject({
        code: 'MISSING_PRIVILEGE',
        message: expect.stringMatching(
          /CREATE command denied .*doctor.* prints the GRANT.*docs\/guides\/security\.md.*`schema: \{ migrate: 'check' \}`/,
        ),
      });
    });

    it('receives an error with the guide if it may not use the database', async () => {
      const world = await setup();
      const name = `stranger_${randomBytes(4).toString('hex')}`;
      await world.sql(`CREATE USER '${name}'@'%'`);
      world.afterTest(() => world.sql(`DROP USER '${name}'@'%'`));
      const url = new URL((world.connection as { url: string }).url);
      url.username = name;

      const opening = openAs(new DataSource({ type: 'mysql', url: url.href }));

      await expect(opening).rejects.toMatchObject({
        code: 'MISSING_PRIVILEGE',
        message: expect.stringMatching(/Access denied .*docs\/guides\/security\.md/),
      });
    });

    it('receives an error with the guide if it lacks one privilege, even in a transaction', async () => {
      const world = await setup();
      await world.start({ autoStart: false });
      const dataSource = await account(world, 'reader', GRANTS_ON_SCHEMA);
      const { producer } = await world.start({ dataSource, autoStart: false });

      const within = () => dataSource.transaction((manager) => producer.enqueue('q', 0, { manager }));

      const denied = await producer.enqueue('q', 0).catch((error: unknown) => error);
      expect(denied).toMatchObject({ code: 'MISSING_PRIVILEGE', message: expect.stringContaining('doctor') });
      expect((denied as Error).message).not.toContain('migrate');
      await expect(within()).rejects.toMatchObject({ code: 'MISSING_PRIVILEGE' });
    });

    function openAs(dataSource: DataSource) {
      const settings = { clock: systemClock, migrate: 'run', shortestLeaseMs: 30_000, largestPayloadBytes: 1_048_576 };
      return openStore({ dataSource, ...settings } as Parameters<typeof openStore>[0]);
    }
  },
  ['mysql', 'mariadb'],
);
