import type { GroupRules } from '../../lib/job/groups/group-options.js';
import type { Rate } from '../../lib/job/limits/limit-options.js';
import { mysql } from '../../lib/store/databases/mysql/mysql.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { eventually } from '../support/eventually.js';
import { claimFrom, newJob, type Claim } from '../support/jobs.js';
import { rewritingDriver, waitForLocks } from '../support/rewriting-driver.js';
import { describeStoresOf, type World } from '../support/stores.js';

const DAY_MS = 86_400_000;
const QUOTA: Rate = { limit: 3, perMs: DAY_MS, burst: 1, window: 'fixed' };
const GROUPS: GroupRules = { concurrency: null, rate: QUOTA, quantum: 1, onRetry: 'pass' };

// Enough for a claim to begin.
const BEFORE_MIDNIGHT_MS = 500;

// The claims wait for as long as the transactions of these tests last.
const driver = rewritingDriver(waitForLocks(600));

// The claim of a group awaits its lock only with this strategy.
describeStoresOf(['mysql', 'mariadb'], 'a daily quota', suite, 'optimistic');

function suite(setup: () => Promise<World>): void {
  it('of a queue holds for a claim that waits for another one until after midnight', async () => {
    const world = await setup();
    await world.limits.declareLimits(new Map([['q', { maxRunning: null, rate: QUOTA }]]));
    await world.jobs.enqueue(Array.from({ length: 5 }, () => newJob()));

    const { jobs } = await claimBeforeMidnight(world, 'sql_queue_limits', (store) =>
      claimFrom(store.jobs, { limit: 5, isLimited: true }),
    );

    expect(jobs).toEqual([]);
  });

  it('of a group holds for a claim that waits for another one until after midnight', async () => {
    const world = await setup();
    await world.jobs.enqueue(Array.from({ length: 5 }, () => newJob({ group: 'a' })));
    // The group is ready afterwards.
    await claimFrom(world.jobs, { limit: 1, groups: GROUPS });

    const { jobs } = await claimBeforeMidnight(world, 'sql_queue_groups', (store) =>
      claimFrom(store.jobs, { limit: 5, groups: GROUPS }),
    );

    expect(jobs).toEqual([]);
  });
}

/** Claims before midnight, while another transaction has the lock, uses up the quota of the new day, and then commits. */
async function claimBeforeMidnight(
  world: World,
  table: 'sql_queue_limits' | 'sql_queue_groups',
  claim: (store: OpenStore) => Promise<Claim>,
): Promise<Claim> {
  const store = await world.open({ dataSource: await world.connect({ driver }) });
  const other = await world.connect();
  const { claiming } = await other.transaction(async (manager) => {
    await manager.query(`SELECT queue FROM ${table} WHERE queue = 'q' FOR UPDATE`);
    const now = await databaseTime(world);
    const midnight = now - (now % DAY_MS) + DAY_MS;
    world.advance(midnight - now - BEFORE_MIDNIGHT_MS);
    const claimed = claim(store);
    await untilWaiting(world, new RegExp(`FROM ${table}.*FOR UPDATE|JOIN ${table}.*FOR UPDATE`, 's'));
    await eventually(async () => (await databaseTime(world)) >= now + BEFORE_MIDNIGHT_MS);
    await manager.query(`UPDATE ${table} SET rate_until_us = ?, rate_used = 3 WHERE queue = 'q'`, [
      (midnight + DAY_MS) * 1_000,
    ]);
    return { claiming: claimed };
  });
  return claiming;
}

async function databaseTime({ sql }: World): Promise<number> {
  const [row] = await sql<{ now: number }>(`SELECT ${mysql.now} AS now`);
  return Number(row!.now);
}

async function untilWaiting({ sql }: World, statement: RegExp): Promise<void> {
  await eventually(async () => {
    const rows = await sql<{ info: string | null }>(
      'SELECT info FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
    );
    return rows.some(({ info }) => statement.test(info ?? ''));
  });
}
