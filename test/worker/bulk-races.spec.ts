import type { QueueAdmin } from '../../lib/admin/queue-admin.js';
import type { JobState } from '../../lib/job/job-state.js';
import { describeEngines, type World } from '../support/engines.js';
import { interceptingDriver } from '../support/intercepting-driver.js';

const HOUR = 3_600_000;
const DISCARD = () => {
  throw new Error('it fails');
};

interface Change {
  /** What one operator does with the jobs that a filter names. */
  readonly verb: string;
  readonly act: (admin: QueueAdmin) => Promise<number>;
  /** What another one does with the job after the first one has found it. */
  readonly meanwhile: (admin: QueueAdmin, id: number) => Promise<unknown>;
  readonly prepare: 'dead' | 'scheduled';
  readonly after: { state: JobState; key?: string };
}

const CHANGES: Change[] = [
  {
    verb: 'remove',
    act: (admin) => admin.remove({ queue: 'q', state: 'dead' }),
    meanwhile: (admin, id) => admin.retry(id),
    prepare: 'dead',
    after: { state: 'waiting' },
  },
  {
    verb: 'retry',
    act: (admin) => admin.retry({ queue: 'q', state: 'dead' }),
    meanwhile: async (admin, id) => (await admin.retry(id)) && admin.reschedule(id, HOUR),
    prepare: 'dead',
    after: { state: 'scheduled' },
  },
  {
    verb: 'replay',
    act: (admin) => admin.retry({ queue: 'q', state: 'dead' }, { to: 'other', create: true }),
    meanwhile: async (admin, id) => (await admin.retry(id)) && admin.cancel(id),
    prepare: 'dead',
    after: { state: 'cancelled' },
  },
  {
    verb: 'promote',
    act: (admin) => admin.promote({ queue: 'q', headers: { tenant: 'a' } }),
    meanwhile: (admin, id) => admin.update(id, { headers: { tenant: 'b' } }),
    prepare: 'scheduled',
    after: { state: 'scheduled' },
  },
  {
    verb: 'cancel',
    act: (admin) => admin.cancel({ queue: 'q', state: 'scheduled' }),
    meanwhile: (admin, id) => admin.promote(id),
    prepare: 'scheduled',
    after: { state: 'waiting' },
  },
];

// The locking read of the jobs that the filter has found.
const LOCKS_FOUND = /^\s*SELECT (j|h)\.id\s+FROM .*FOR UPDATE/s;

describeEngines(
  'a change of the jobs that a filter names',
  (setup) => {
    it.each(CHANGES)('leaves a job that matches no more when $verb locks it', async (change) => {
      const world = await setup();
      const { producer, admin, runner, events } = await world.start({
        queues: { q: { retry: { attempts: 1 } } },
        handlers: { q: DISCARD },
        autoStart: false,
      });
      const { id } = await producer.enqueue(
        'q',
        {},
        { headers: { tenant: 'a' }, delay: change.prepare === 'dead' ? 0 : HOUR },
      );
      if (change.prepare === 'dead') {
        await runner.start();
        await events.until('dead');
        await runner.stop();
      }

      const changed = await change.act(await adminThatMeets(world, () => change.meanwhile(admin, id)));

      expect(changed).toBe(0);
      expect(await admin.get(id)).toMatchObject(change.after);
    });
  },
  ['mysql', 'mariadb'],
);

/** An administrator in another process. Before it locks the jobs that it has found, the change happens. */
async function adminThatMeets(world: World, change: () => Promise<unknown>): Promise<QueueAdmin> {
  let hasChanged = false;
  const driver = interceptingDriver(async (sql) => {
    if (hasChanged || !LOCKS_FOUND.test(sql)) return;
    hasChanged = true;
    await change();
  });
  return (await world.start({ dataSource: await world.connect({ driver }), autoStart: false })).admin;
}
