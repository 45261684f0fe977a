import { setTimeout } from 'node:timers/promises';
import type { QueueOptions } from '../../lib/job/queue-options.js';
import { expectDeadlocksAtMost } from '../support/deadlocks.js';
import { cutOneConnection } from '../support/cut-connection.js';
import { describeOwnServers, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { processesOf } from '../support/processes.js';
import { isLongSet } from '../support/servers.js';

const JOBS = Number(process.env.GROUP_JOBS ?? (isLongSet ? 2_000 : 6_000));
const PROCESSES = 4;
// A killed worker blocks its groups for a lease.
const GROUPS = Math.max(40, JOBS / 100);
const BATCH = 500;

interface Change {
  readonly group_key: string;
  readonly job_id: number;
  readonly priority: number;
  readonly kind: 'start' | 'end';
}

// SQLite has no connections to cut, so its workers are only killed.
describeOwnServers('groups', (setup, { name }) => {
  it(
    'with one job at a time keep their order while workers are killed and connections are cut',
    async () => {
      const world = await setup();
      const { producer, admin } = await world.start({
        autoStart: false,
        queues: { q: { groups: { concurrency: 1 } } },
      });
      await recordChanges(world);
      const processes = await processesOf(world);
      const queue: QueueOptions = {
        lease: '2s',
        concurrency: 10,
        retry: { attempts: 30, backoff: 20 },
        groups: { concurrency: 1 },
      };
      const start = () => processes.worker({ queue });
      const workers = await Promise.all(Array.from({ length: PROCESSES }, start));

      for (let count = 0; count < JOBS; count += BATCH) {
        await producer.enqueueMany(
          'q',
          Array.from({ length: BATCH }, (_, n) => ({
            payload: n % 10 === 0 ? { failFirst: true } : {},
            // Some groups have many more jobs than others.
            options: { group: `g${Math.floor(Math.random() ** 3 * GROUPS)}` },
          })),
        );
      }
      for (let faults = 0; (await admin.counts('q')).completed < JOBS; faults++) {
        await setTimeout(150 + Math.random() * 300);
        if (faults % 2 && name !== 'sqlite') await cutOneConnection(world);
        else await processes.replaceOne(workers, start);
      }
      await eventually(async () => (await world.sql('SELECT id FROM sql_queue_jobs LIMIT 1')).length === 0);
      await Promise.all(workers.map((worker) => worker.stop()));

      expect(await processes.violations()).toEqual([]);
      expect(findDisorder(await world.sql<Change>('SELECT * FROM changes ORDER BY number'))).toEqual([]);
      expect((await admin.counts('q')).completed).toBe(JOBS);
      if (name !== 'sqlite') await expectDeadlocksAtMost(world, 0);
    },
    JOBS * 40 + 120_000,
  );
});

/** Records in each transaction which jobs it makes active, and which ones it ends or returns. */
async function recordChanges({ sql, server }: World): Promise<void> {
  const isSqlite = server.name === 'sqlite';
  await sql(`CREATE TABLE changes (
    number ${isSqlite ? 'INTEGER PRIMARY KEY AUTOINCREMENT' : 'BIGINT AUTO_INCREMENT PRIMARY KEY'},
    group_key VARCHAR(100) NOT NULL, job_id BIGINT NOT NULL, priority INT NOT NULL, kind VARCHAR(10) NOT NULL)`);
  const insert = (row: string, kind: string) =>
    `INSERT INTO changes (group_key, job_id, priority, kind) VALUES (${row}.group_key, ${row}.id, ${row}.priority, '${kind}');`;
  const when = (condition: string, statement: string) =>
    isSqlite ? `WHEN ${condition} BEGIN ${statement} END` : `BEGIN IF ${condition} THEN ${statement} END IF; END`;
  await sql(`CREATE TRIGGER record_start AFTER UPDATE ON sql_queue_jobs FOR EACH ROW
    ${when(`NEW.state = 'active' AND OLD.state <> 'active'`, insert('NEW', 'start'))}`);
  await sql(`CREATE TRIGGER record_return AFTER UPDATE ON sql_queue_jobs FOR EACH ROW
    ${when(`NEW.state <> 'active' AND OLD.state = 'active'`, insert('NEW', 'end'))}`);
  await sql(`CREATE TRIGGER record_end AFTER DELETE ON sql_queue_jobs FOR EACH ROW
    ${when(`OLD.state = 'active'`, insert('OLD', 'end'))}`);
}

/** Jobs that started beside another one of their group, or before an earlier one. */
function findDisorder(changes: readonly Change[]): string[] {
  const problems: string[] = [];
  const active = new Map<string, number>();
  const last = new Map<string, number>();
  for (const { group_key: group, job_id, kind } of changes) {
    const id = Number(job_id);
    if (kind === 'end') {
      active.delete(group);
      continue;
    }
    if (active.has(group)) problems.push(`job ${id} of ${group} started beside job ${active.get(group)}`);
    if (id < (last.get(group) ?? 0)) problems.push(`job ${id} of ${group} started after job ${last.get(group)}`);
    active.set(group, id);
    last.set(group, id);
  }
  return problems;
}
