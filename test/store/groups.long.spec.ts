import type { GroupRules } from '../../lib/job/groups/group-options.js';
import { claimRequest, finalBatchOf, type Claim } from '../support/jobs.js';
import { describeStoresOf, type World } from '../support/stores.js';

const LARGE = 900_000;
const CLAIMS = 400;
const CLAIM_SIZE = 10;
// Prints the times of claims, which depend on the machine.
const printsTimes = process.env.GROUP_TIMES !== undefined;

const FREE: GroupRules = { concurrency: null, rate: null, quantum: 1, onRetry: 'pass' };
const ONE_AT_A_TIME: GroupRules = { ...FREE, concurrency: 1, onRetry: 'wait' };

describeStoresOf(['mysql', 'mariadb'], 'among a million jobs, groups', (setup, { title }) => {
  it.each([9_999, 100_000])('give a large group the share of one of %i groups, and no more', async (groups) => {
    const world = await setup();
    await fill(world, groups);
    const run = async (name: string, queue: string, rules?: GroupRules) => {
      const { jobs, times } = await claimAndComplete(world, queue, rules);
      const [p50, p99] = [0.5, 0.99].map((part) => times[Math.floor(times.length * part)]!.toFixed(2));
      if (printsTimes) process.stdout.write(`${title}, ${groups} groups, ${name}: p50 ${p50} ms, p99 ${p99} ms\n`);
      return jobs;
    };

    await run('without groups', 'plain');
    const free = await run('no limit', 'q', FREE);
    const limited = await run('one job at a time', 'q', ONE_AT_A_TIME);
    await world.groups.setPaused('q', 'large', true);
    const blocked = await run('one job at a time, the large group blocked', 'q', ONE_AT_A_TIME);

    for (const jobs of [free, limited, blocked]) expect(jobs).toHaveLength(CLAIMS * CLAIM_SIZE);
    // There are more groups than claimed jobs.
    for (const jobs of [free, limited]) expect(jobs.filter((group) => group === 'large').length).toBeLessThanOrEqual(1);
    expect(blocked).not.toContain('large');
  });
});

/** One group has most of the jobs. The jobs have joined their groups. */
async function fill({ sql }: World, groups: number): Promise<void> {
  const digits = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS d`).join(' UNION ');
  const joins = 'abcdef'.split('').map((name) => `(${digits}) AS ${name}`);
  const number = 'a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d + 100000 * f.d';
  const numbers = (size: number) => `(SELECT ${number} AS n FROM ${joins.join(', ')} LIMIT ${size}) AS numbers`;
  const into = 'INSERT INTO sql_queue_jobs (queue, payload, runnable, group_key)';
  await sql(`${into} SELECT 'q', '{"a":1}', 3, 'large' FROM ${numbers(LARGE)}`);
  await sql(
    `${into} SELECT 'q', '{"a":1}', 3, CONCAT('small-', n % ${groups}) FROM ${numbers(Math.max(100_000, groups))}`,
  );
  await sql(`${into} SELECT 'plain', '{"a":1}', 1, '' FROM ${numbers(100_000)}`);
  await sql(`INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id)
    SELECT 'q', group_key, 'ready', 1, -32769, 0 FROM (SELECT DISTINCT group_key FROM sql_queue_jobs WHERE queue = 'q') AS g`);
  await sql('ANALYZE TABLE sql_queue_jobs, sql_queue_groups');
}

/** Each claim shares its transaction with the completion of the one before. Returns the groups of the jobs. */
async function claimAndComplete({ jobs: store }: World, queue: string, groups?: GroupRules) {
  const times: number[] = [];
  const claimed: (string | null)[] = [];
  let held: Claim | undefined;
  for (let n = 0; n < CLAIMS; n++) {
    const request = claimRequest({ queue, limit: CLAIM_SIZE, ...(groups && { groups }) });
    const from = performance.now();
    const jobs = held ? (await store.completeAndClaim(finalBatchOf(held), request)).jobs : await store.claim(request);
    times.push(performance.now() - from);
    held = { id: request.claimId, workerId: request.workerId, jobs };
    claimed.push(...jobs.map(({ group }) => group));
  }
  await store.complete(finalBatchOf(held!));
  return { jobs: claimed, times: times.sort((a, b) => a - b) };
}
