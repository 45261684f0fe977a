import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSource, QueryRunner } from 'typeorm';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { describeEngines, type World } from '../support/engines.js';

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/coming-from-a-cron-table.md'), 'utf8');

/** The statements of the guide, by heading. */
const BLOCKS = new Map(
  [...GUIDE.matchAll(/^### (.+)$[^]*?^```sql\n([^]*?)^```$/gm)].map(([, heading, sql]) => [
    heading!,
    sql!.split(/;\n/).filter((statement) => statement.trim() !== ''),
  ]),
);

interface Task {
  task: number;
  body: string;
}

describeEngines('the statements of the guide for cron tables', (setup, server) => {
  const isSqlite = server.name === 'sqlite';
  const move = BLOCKS.get(isSqlite ? 'On SQLite' : 'On MySQL and MariaDB')!;

  const open = async () => {
    const world = await setup();
    const runs: Task[] = [];
    const handlers = { 'task.run': ({ payload }: JobContext) => void runs.push(payload as Task) };
    const engine = await world.start({ handlers, autoStart: false });
    const [table] = BLOCKS.get('The old table')!;
    await world.sql(isSqlite ? table!.replace(' AUTO_INCREMENT', ' AUTOINCREMENT') : table!);
    world.afterTest(() => world.sql('DROP TABLE tasks'));
    return { world, ...engine, runs };
  };
  /** Changes to nothing if another transaction interferes. */
  const moveOn = (dataSource: DataSource, last?: (runner: QueryRunner) => Promise<unknown>) =>
    inTransaction(dataSource, async (runner) => {
      for (const statement of move.slice(0, -1)) await runner.query(statement);
      await (last ? last(runner) : runner.query(move.at(-1)!));
    });
  const statuses = async ({ sql }: World) =>
    (await sql<{ status: string }>('SELECT status FROM tasks ORDER BY id')).map(({ status }) => status);

  it('move pending rows with their remaining tries and times, and leave running and done ones', async () => {
    const { world, admin, runner, events, runs } = await open();
    const later = isSqlite ? `datetime('now', '+1 hour')` : `UTC_TIMESTAMP() + INTERVAL 1 HOUR`;
    const past = isSqlite ? `datetime('now', '-1 hour')` : `UTC_TIMESTAMP() - INTERVAL 1 HOUR`;
    await world.sql(`INSERT INTO tasks (kind, body, status, tries, run_after) VALUES
      ('mail', 'a "quoted" text', 'pending', 0, NULL), ('mail', 'b', 'pending', 2, ${past}), ('mail', 'c', 'running', 0, NULL),
      ('sync', 'd', 'pending', 9, ${later}), ('mail', 'e', 'done', 1, NULL)`);

    await moveOn(world.dataSource);
    const { jobs } = await admin.find({ queue: 'task.run' });
    await runner.start();
    await events.untilCount(2, 'completed');
    world.advance(3_601_000);
    await events.untilCount(3, 'completed');

    expect(await statuses(world)).toEqual(['moved', 'moved', 'running', 'moved', 'done']);
    expect(jobs).toMatchObject([
      { name: 'mail', payload: { task: 1, body: 'a "quoted" text' }, maxAttempts: 5, runAt: null },
      { name: 'mail', payload: { task: 2 }, maxAttempts: 3, runAt: null },
      { name: 'sync', payload: { task: 4 }, maxAttempts: 1 },
    ]);
    const laterMs = jobs[2]!.runAt!.getTime() - jobs[2]!.createdAt.getTime();
    expect(laterMs).toBeGreaterThan(3_590_000);
    expect(laterMs).toBeLessThan(3_601_000);
    expect(runs.map(({ task }) => task)).toEqual([1, 2, 4]);
  });

  it('change nothing if they do not commit, and move a row that was running when it is pending again', async () => {
    const { world, admin } = await open();
    await world.sql(`INSERT INTO tasks (kind, body, status) VALUES ('mail', 'a', 'pending'), ('mail', 'b', 'running')`);

    await moveOn(world.dataSource, (runner) => runner.query('ROLLBACK'));
    const undone = [await statuses(world), (await admin.counts('task.run')).waiting];
    await moveOn(world.dataSource);
    await world.sql(`UPDATE tasks SET status = 'pending', tries = 1 WHERE status = 'running'`);
    await moveOn(world.dataSource);
    await moveOn(world.dataSource);

    expect(undone).toEqual([['pending', 'running'], 0]);
    expect(await statuses(world)).toEqual(['moved', 'moved']);
    expect((await admin.find({ queue: 'task.run' })).jobs).toMatchObject([
      { payload: { task: 1 }, maxAttempts: 5 },
      { payload: { task: 2 }, maxAttempts: 4 },
    ]);
  });

  it('run each row once, by the cron job or as a job, while a producer and the cron job work', async () => {
    const { world, admin, runner, events, runs } = await open();
    const [producer, cron, mover] = [
      await world.connect(QUICK),
      await world.connect(QUICK),
      await world.connect(QUICK),
    ];
    // Without locks of gaps, which would make the producer wait.
    if (!isSqlite) await mover.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    const byCron: number[] = [];
    const produced = new AbortController();

    const produce = async () => {
      for (let n = 0; n < 40; n++) {
        await turn();
        await inTransaction(producer, async (open) => {
          await open.query(isSqlite ? 'BEGIN IMMEDIATE' : 'START TRANSACTION');
          await open.query(`INSERT INTO tasks (kind, body) VALUES ('mail', 'x'), ('mail', 'y')`);
          await turn();
          await open.query('COMMIT');
        });
      }
      produced.abort();
    };
    const work = async () => {
      while (!produced.signal.aborted) {
        await turn();
        const [row] = await cron.query<{ id: number }[]>(
          `SELECT id FROM tasks WHERE status = 'pending' ORDER BY id DESC LIMIT 1`,
        );
        if (row === undefined) continue;
        await turn();
        await inTransaction(cron, (open) =>
          open.query(`UPDATE tasks SET status = 'running' WHERE id = ${row.id} AND status = 'pending'`),
        );
        const [{ status }] = (await cron.query(`SELECT status FROM tasks WHERE id = ${row.id}`)) as [
          { status: string },
        ];
        if (status !== 'running') continue;
        byCron.push(Number(row.id));
        await inTransaction(cron, (open) => open.query(`UPDATE tasks SET status = 'done' WHERE id = ${row.id}`));
      }
    };
    const moveAll = async () => {
      while (!produced.signal.aborted) {
        await turn();
        await moveOn(mover, async (open) => {
          await turn();
          await open.query(move.at(-1)!);
        });
      }
    };
    await Promise.all([produce(), work(), moveAll()]);
    await moveOn(mover);
    const ended = await statuses(world);
    expect((await admin.counts('task.run')).waiting).toBe(80 - byCron.length);
    await runner.start();
    await events.untilCount(80 - byCron.length, 'completed');

    expect(new Set(ended)).toEqual(new Set(byCron.length > 0 ? ['moved', 'done'] : ['moved']));
    const all = [...byCron, ...runs.map(({ task }) => task)].sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: 80 }, (_, n) => n + 1));
  });
});

// Connections of one process must not wait for each other inside the driver of SQLite, which blocks the event loop.
const QUICK = { timeout: 0, poolSize: 1 };
const INTERFERENCES = [
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_CHECKREAD',
  'SQLITE_BUSY',
  'SQLITE_BUSY_SNAPSHOT',
];

/** Lets the other loops of this process work: calls of the driver of SQLite do not. */
const turn = () => new Promise((next) => setImmediate(next));

/** Repeats the work, which may be a transaction, if another transaction interferes. */
async function inTransaction(dataSource: DataSource, work: (runner: QueryRunner) => Promise<unknown>): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    for (;;) {
      try {
        await work(runner);
        return;
      } catch (error) {
        const { code } = error as { code?: string };
        // Without a transaction, as after a failed BEGIN, the rollback of SQLite fails.
        await runner.query('ROLLBACK').catch(() => undefined);
        if (!INTERFERENCES.includes(code ?? '')) throw error;
        await turn();
      }
    }
  } finally {
    await runner.release();
  }
}
