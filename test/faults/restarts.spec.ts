import { gate, plainJobs, openWorld } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { OwnServer } from '../support/own-server.js';
import { describeServers } from '../support/servers.js';

const JOBS = 300;
const BEFORE = 100;
// Longer than any restart.
const LEASE_MS = 600_000;

describeServers(
  'workers',
  ({ name }) => {
    const cleanups: (() => Promise<void>)[] = [];
    let own: OwnServer;
    beforeAll(async () => {
      own = await OwnServer.start(name as 'mysql' | 'mariadb');
    });
    afterEach(() => cleanups.pop()?.());
    afterAll(() => own.end());

    it.each(['SIGKILL', 'SIGTERM'] as const)(
      'reconnect after a database restart (%s) during their work, and run each job once',
      async (signal) => {
        const connection = await own.emptyDatabase(`queue_${signal}`);
        const { world, close } = await openWorld(own.server, connection);
        cleanups.push(close);
        const { open, opened } = gate();
        const runs: number[] = [];
        const completed = new Set<number>();
        const settings = {
          queues: { q: { concurrency: 5, lease: LEASE_MS, retry: { attempts: 10, backoff: 0 } } },
          handlers: {
            q: async ({ id }: { id: number }) => {
              runs.push(id);
              if (completed.size >= BEFORE) await opened;
            },
          },
        };
        const workers = [await world.start(settings), await world.start(settings)];
        for (const { events } of workers) {
          const add = events.add.bind(events);
          events.add = (event) => {
            if (event.event === 'completed') completed.add(event.jobId);
            add(event);
          };
        }
        const jobs = await workers[0]!.producer.enqueueMany('q', plainJobs(JOBS));
        await eventually(() => completed.size >= BEFORE);

        const restarted = own.restart(signal);
        open();
        await restarted;
        for (const { runner } of workers) await runner.whenIdle();
        // A claim whose commit the server could not answer expires.
        world.advance(LEASE_MS);
        for (const { runner } of workers) await runner.whenIdle();

        const history = await world.sql<{ id: number; state: string }>(
          'SELECT id, state FROM sql_queue_history ORDER BY id',
        );
        expect(history.map(({ id, state }) => [Number(id), state])).toEqual(jobs.map(({ id }) => [id, 'completed']));
        expect(await world.sql('SELECT id FROM sql_queue_jobs')).toEqual([]);
        expect(runs.sort((a, b) => a - b)).toEqual(jobs.map(({ id }) => id));
      },
    );
  },
  ['mysql', 'mariadb'],
);
