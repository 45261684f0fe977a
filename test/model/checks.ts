import { MINUTE } from './actor.js';
import { claim, freeLapsed, work } from './worker-calls.js';
import { FORGOTTEN, WRITES } from './script.js';
import { TABLES, type World } from './world.js';

const MOST_ROUNDS = 60;
const ROUNDS_BESIDE_LOCKS = 8;
const MOST_CLAIMS = 8;

const QUEUES_WITH_JOBS = `SELECT DISTINCT queue FROM ${TABLES.jobs}`;

/** They have no row without a job. */
const EMPTIED = [
  ...(['jobs', 'history', 'claims', 'steps', 'edges', 'flows', 'logs', 'progress', 'keys', 'waits'] as const),
  ...(['stages', 'subjects'] as const),
];

/** The rows of a job beside its own: none may be left of an old payload or of a job that is gone. */
const OF_JOB = { steps: 'job_id', edges: 'job_id', progress: 'job_id', logs: 'job_id' } as const;

export async function leftOf(world: World, id: number): Promise<string> {
  const left: string[] = [];
  for (const [table, column] of Object.entries(OF_JOB)) {
    const rows = await world.sql(`SELECT * FROM ${TABLES[table as keyof typeof OF_JOB]} WHERE ${column} = ${id}`);
    if (rows.length > 0) left.push(`${rows.length} ${table}`);
  }
  return left.join(', ');
}

/** A signal wakes each job that waits for it, if no other transaction is under way. */
export async function checkAwake(world: World, key: string): Promise<void> {
  const rows = await world.sql<{ id: number }>(
    `SELECT s.job_id AS id FROM ${TABLES.steps} s JOIN ${TABLES.jobs} j ON j.id = s.job_id
     JOIN ${TABLES.signals} g ON g.hash = s.signal_hash
     WHERE s.state = 'waiting' AND j.state = 'scheduled' AND g.signal_key = '${key}'`,
  );
  for (const { id } of rows)
    if (world.model.jobs.get(Number(id))?.isWaiting) world.problem(`the signal ${key} did not wake job ${id}`);
}

interface JobRow {
  id: number;
  queue: string;
  state: string;
  runnable: number;
  run_at: number | null;
  group_key: string;
}

/** What must hold after every history: the rest of it runs, and leaves nothing. */
export async function checkEnd(world: World): Promise<void> {
  world.model.now++;
  if (world.isLocking) {
    await world.releaseAll();
    await drain(world, world.running, ROUNDS_BESIDE_LOCKS);
    await checkStarted(world, world.locked);
    await world.unlock();
  }
  await world.finishCalls();
  world.check();
  await drain(world, world.running);
  await checkStarted(world);
  world.check();
  await finishAll(world);
  await checkDone(world);
  world.check();
  await checkNothingLeft(world);
  world.check();
}

/** An actor does all that it finds. Locked rows keep no others from running. */
export async function goOn(world: World, actor: number): Promise<void> {
  await drain(world, [actor], ROUNDS_BESIDE_LOCKS);
  if (world.isAlone(actor) && !world.isBusy(actor)) await checkStarted(world, world.locked);
}

/** Actors poll, claim and work, one after the other, until none of them finds anything. */
async function drain(world: World, actors: readonly number[], mostRounds = MOST_ROUNDS): Promise<void> {
  // Locked rows fill the pages of some rounds, and a worker tries again.
  for (let round = 0, found = 1; (found > 0 || world.isLocking) && round < mostRounds; round++) {
    if (round === MOST_ROUNDS - 1) world.problem('the jobs never come to rest');
    world.model.now++;
    // Longer than the pauses of checks for missed jobs, and of groups at their limits.
    await world.advance(11_000);
    freeLapsed(world);
    found = 0;
    for (const actor of actors) {
      if (!world.isBusy(actor)) await world.call(actor, 'sweep', (sweeper) => sweeper.sweep(), { mustNotWait: true });
      for (const { queue } of await world.sql<{ queue: string }>(QUEUES_WITH_JOBS))
        found += await claimAndWork(world, actor, queue);
    }
    world.check();
  }
}

async function claimAndWork(world: World, actor: number, queue: string): Promise<number> {
  if (world.isBusy(actor)) return 0;
  world.model.now++;
  let count = world.heldBy(actor).length;
  // Jobs join their groups page by page, and the worker comes back for the next page.
  for (let claims = 0; claims < MOST_CLAIMS; claims++) {
    await claim(world, actor, queue, 3);
    world.model.now++;
    if (world.isBusy(actor) || world.heldBy(actor).length > 0 || !(await world.actor(actor)).mayFindMore) break;
  }
  while (!world.isBusy(actor) && world.heldBy(actor).length > 0) {
    await work(world, actor, 0);
    world.model.now++;
    count++;
  }
  return count;
}

/** Each job that has not started has a reason. */
async function checkStarted(world: World, locked: ReadonlySet<string> = new Set()): Promise<void> {
  const jobs = await world.sql<JobRow>(`SELECT id, queue, state, runnable, run_at, group_key FROM ${TABLES.jobs}`);
  const now = world.nowMs;
  for (const { id, queue, state, run_at, group_key } of jobs) {
    if (locked.has(`job ${id}`) || locked.has(`group ${queue} ${group_key}`)) continue;
    // The jobs of a group start in their order.
    const isBehind = (job: JobRow) => job.queue === queue && job.group_key === group_key && locked.has(`job ${job.id}`);
    if (group_key !== '' && jobs.some(isBehind)) continue;
    const names = [queue, `${queue} ${group_key}`];
    const where = `job ${id} of ${queue}${group_key === '' ? '' : ` in group ${group_key}`}`;
    if (
      state === 'waiting' &&
      !names.some((name) => world.model.isPaused(name).last) &&
      !isFull(world, jobs, queue, group_key)
    )
      world.problem(`${where} waits although nothing keeps it from running`);
    if (state === 'active' && !mayBeHeld(world, Number(id)) && !isRunByDead(world, Number(id)))
      world.problem(`${where} is active although no actor has it`);
    if (state === 'scheduled' && Number(run_at) < now - MINUTE) world.problem(`${where} is due and was not promoted`);
    if (state === 'scheduled' && Number(run_at) > now + MINUTE) await checkWait(world, Number(id), where);
    if (state === 'blocked') await checkBlocked(world, Number(id), where, locked);
  }
  const due = await world.sql<{ name: string }>(`SELECT name FROM ${TABLES.schedules} WHERE next_at < ${now - MINUTE}`);
  for (const { name } of due) if (!locked.has(`schedule ${name}`)) world.problem(`the tick of ${name} was not run`);
}

/** A heartbeat renews a lapsed lease that no other process has noticed. */
function mayBeHeld(world: World, id: number): boolean {
  return world.running.some((actor) => world.isBusy(actor) || world.heldBy(actor).some(({ job }) => job.id === id));
}

function isRunByDead(world: World, id: number): boolean {
  return (world.model.jobs.get(id)?.leaseUntil ?? 0) > world.nowMs - MINUTE;
}

/** Dead actors keep the places of their jobs until their leases end. */
function isFull({ model }: World, jobs: readonly JobRow[], queue: string, group: string): boolean {
  const active = jobs.filter((job) => job.state === 'active' && job.queue === queue);
  if (active.length >= model.limitOfQueue(queue).last) return true;
  const inGroup = active.filter((job) => job.group_key === group);
  return group !== '' && inGroup.length >= model.limitOfGroup(queue, group).last;
}

/** A job that waits for a signal that was sent must be awake. */
async function checkWait(world: World, id: number, where: string): Promise<void> {
  const [signalled] = await world.sql(
    `SELECT 1 AS one FROM ${TABLES.steps} s JOIN ${TABLES.signals} g ON g.hash = s.signal_hash
     WHERE s.job_id = ${id} AND s.state = 'waiting'`,
  );
  if (signalled && world.model.jobs.get(id)?.isWaiting) world.problem(`${where} waits for a signal that was sent`);
}

async function checkBlocked(world: World, id: number, where: string, locked: ReadonlySet<string>): Promise<void> {
  const open = await world.sql<{ needs: number; live: number | null }>(
    `SELECT e.needs, j.id AS live FROM ${TABLES.edges} e LEFT JOIN ${TABLES.jobs} j ON j.id = e.needs WHERE e.job_id = ${id}`,
  );
  if (open.every(({ live }) => live === null))
    world.problem(`${where} is blocked although all that it needs has ended`);
  if (open.some(({ needs }) => locked.has(`job ${needs}`))) return;
}

/** The pauses and limits end, and time passes, until no job is left. */
async function finishAll(world: World): Promise<void> {
  world.model.now++;
  await liftAll(world);
  for (let round = 0; round < 12; round++) {
    const [left] = await world.sql<{ count: number }>(`SELECT COUNT(*) AS count FROM ${TABLES.jobs}`);
    if (Number(left!.count) === 0) return;
    await world.advance(61 * MINUTE);
    await drain(world, world.running.slice(0, 1));
    await checkStarted(world);
    world.check();
  }
  const rows = await world.sql(`SELECT id, queue, state, runnable, run_at, group_key FROM ${TABLES.jobs}`);
  world.problem(`jobs are left after half a day: ${JSON.stringify(rows)}`);
}

async function liftAll(world: World): Promise<void> {
  const { model } = world;
  await world.call(0, 'resume', async ({ engine }, begun) => {
    for (const [name, setting] of model.paused) {
      if (!setting.last) continue;
      const [queue, group] = name.split(' ') as [string, string | undefined];
      await (group === undefined ? engine.admin.resume(queue) : engine.admin.group(queue, group).resume());
      setting.change(false, begun, model.now);
    }
    for (const [queue, setting] of model.queueLimits) {
      await engine.admin.limit(queue, null);
      setting.change(Infinity, begun, model.now);
    }
  });
}

/** Each job has ended, and has written its rows once for its payload. */
async function checkDone(world: World): Promise<void> {
  const finished = await world.sql<{ id: number; state: string; payload: string }>(
    `SELECT id, state, payload FROM ${TABLES.history}`,
  );
  const writes = await world.sql<{ job_id: number; v: number; part: number; count: number }>(
    `SELECT job_id, v, part, COUNT(*) AS count FROM ${WRITES} GROUP BY job_id, v, part`,
  );
  for (const { id, state, payload } of finished) {
    const { v, script } = JSON.parse(payload) as { v: number; script: string[] };
    const last = script.findIndex((op) => op === 'transaction' || (FORGOTTEN as readonly string[]).includes(op));
    const forgotten = script[last]?.startsWith('forget') ? script[last] : undefined;
    if (state === 'completed' && forgotten !== undefined)
      world.problem(`job ${id} completed although its handler forgot an await (${forgotten})`);
    const isReplayed = world.model.jobs.get(Number(id))?.isReplayed ?? false;
    for (const [part, op] of script.entries()) {
      if (op !== 'tx' && op !== 'transaction' && op !== 'forgetTx') continue;
      const own = writes.find((row) => Number(row.job_id) === Number(id) && row.v === v && row.part === part);
      const count = Number(own?.count ?? 0);
      const reached = state === 'completed' && op !== 'forgetTx' && (last === -1 || part <= last);
      if (isReplayed ? count > 0 || !reached : reached ? count === 1 : count <= (op === 'tx' ? 1 : 0)) continue;
      world.problem(`job ${id}, which is ${state}, has written ${op} ${part} ${count} times`);
    }
  }
}

/** After all jobs were removed and two hours have passed, no row is left. */
async function checkNothingLeft(world: World): Promise<void> {
  await world.call(0, 'clean-up', async ({ engine }) => {
    for (let round = 0; round < 3; round++)
      if ((await engine.store.cleanUp(500)) > 0) world.problem('a verb has left a job that stands in no queue');
  });
  await world.call(0, 'remove', async ({ engine }) => {
    await engine.admin.remove({ all: true });
  });
  for (let round = 0; round < 2; round++) {
    await world.advance(90 * MINUTE);
    await world.call(0, 'prune', (actor) => actor.prune());
  }
  const counts = EMPTIED.map((table) => `SELECT '${table}' AS name, COUNT(*) AS count FROM ${TABLES[table]}`);
  for (const { name, count } of await world.sql<{ name: string; count: number }>(counts.join(' UNION ALL ')))
    if (Number(count) > 0) world.problem(`${count} rows are left in ${name}`);
}
