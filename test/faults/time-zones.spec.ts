import type { QueueAdmin } from '../../lib/admin/queue-admin.js';
import type { JobRecord } from '../../lib/job/job.js';
import { describeEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { processesOf } from '../support/processes.js';

const LEASE_MS = 30_000;
const DELAY_MS = 3_600_000;

describeEngines(
  'a process in New York',
  (setup) => {
    it.each([
      ['local', '+05:30'],
      ['Z', 'SYSTEM'],
    ])('stores the same times as a process in UTC (driver %s, session %s)', async (timezone, sessionTimeZone) => {
      const world = await setup();
      const utc = await world.start({ handlers: { r: () => undefined } });
      const processes = await processesOf({ ...world, connection: { ...world.connection, timezone } as never });
      const runAt = new Date((await world.now()) + 86_400_000);
      const before = await world.now();
      const worker = await processes.worker(
        { queue: { lease: LEASE_MS }, sessionTimeZone, forward: ['completed'] },
        { TZ: 'America/New_York' },
      );

      worker.send({ enqueue: { hold: true } });
      await worker.untilMessage('holding');
      worker.send({ enqueue: {}, delay: DELAY_MS });
      worker.send({ enqueue: {}, runAt: runAt.getTime() });
      await eventually(() => worker.messages.filter(({ text }) => text === 'enqueued').length === 3);
      await utc.runner.whenIdle();
      const after = await world.now();

      const [held] = await world.sql<Record<string, number>>('SELECT claimed_at, lease_until FROM sql_queue_claims');
      expect(Number(held!.claimed_at)).toBeGreaterThanOrEqual(before);
      expect(Number(held!.claimed_at)).toBeLessThanOrEqual(after);
      expect(Number(held!.lease_until)).toBeGreaterThanOrEqual(before + LEASE_MS);
      expect(Number(held!.lease_until)).toBeLessThanOrEqual(after + LEASE_MS);
      const [delayed, timed] = await scheduled(utc.admin);
      expect(delayed!.runAt!.getTime() - delayed!.createdAt.getTime()).toBe(DELAY_MS);
      expect(timed!.runAt).toEqual(runAt);
      expect(utc.events.of('rescued')).toEqual([]);

      worker.send({ finish: true });
      await worker.events.until('completed');
    });
  },
  ['mysql', 'mariadb'],
);

/** The next due job first. */
async function scheduled(admin: QueueAdmin): Promise<JobRecord[]> {
  const jobs = (await admin.find({ state: 'scheduled' })).jobs;
  return jobs.sort((a, b) => a.runAt!.getTime() - b.runAt!.getTime());
}
