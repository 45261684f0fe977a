import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { EntitySchema } from 'typeorm';
import type { Engine } from '../support/engine.js';
import { describeEngines, type World } from '../support/engines.js';
import { installOrms, writeExamples, type Examples } from './install.js';
import type { Connect } from './setups/world.js';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

const ORMS = ['prisma', 'drizzle', 'mikro-orm', 'kysely', 'knex', 'typeorm-transactional', 'nestjs-cls'];
const EXAMPLES = [...ORMS, 'drizzle-sqlite'];

const User = new EntitySchema<{ email: string }>({
  ...{ name: 'User', tableName: 'user' },
  columns: { email: { type: String, length: 100, primary: true } },
});

// Only a notification after the commit makes such a worker find a job in time.
const RARE_POLL = { poll: { min: '1h', max: '1h' } } as const;

// A slow machine needs minutes for 260 packages.
const INSTALL_TIMEOUT = 1_200_000;

let examples: Examples;

beforeAll(async () => {
  await installOrms();
  examples = await writeExamples(join(root, 'docs/guides/other-orms.md'));
  return () => rm(examples.project, { recursive: true, force: true });
}, INSTALL_TIMEOUT);

describe('the examples of other ORMs', () => {
  it('are all run, and compile', async () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const problems = await run(process.execPath, [tsc, '-p', examples.project]).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );

    expect(problems).toBe('');
    expect(examples.names.sort()).toEqual(EXAMPLES.sort());
  });
});

describe.each(ORMS)('a job in a transaction of %s', (orm) => {
  describeEngines('the database', (setup) => {
    it('runs after the commit, once and without a poll', async () => {
      const { signUp, worker, world } = await connected(await setup(), orm);

      await signUp(`ann o'brien@é.example`);

      expect(await worker.events.until('completed')).toMatchObject({ result: `ann o'brien@é.example` });
      expect(await worker.admin.counts('email.welcome')).toMatchObject({ completed: 1, waiting: 0 });
      expect(await world.sql('SELECT email FROM user')).toMatchObject([{ email: `ann o'brien@é.example` }]);
    });

    it('does not exist after a rollback', async () => {
      const { signUp, worker, world } = await connected(await setup(), orm);
      await world.sql(`INSERT INTO user (email) VALUES ('bob')`);

      await expect(signUp('bob')).rejects.toThrow();

      expect(await world.sql('SELECT id FROM sql_queue_jobs')).toEqual([]);
      await signUp('cid');
      expect(await worker.events.until('completed')).toMatchObject({ result: 'cid' });
      expect(await worker.admin.counts('email.welcome')).toMatchObject({ completed: 1, waiting: 0 });
    });
  });
});

/** The example of an ORM, and a worker that runs its jobs. */
async function connected(world: World, orm: string) {
  await world.sql('DROP TABLE IF EXISTS user');
  await world.sql('CREATE TABLE user (email VARCHAR(100) NOT NULL PRIMARY KEY)');
  const dataSource = await world.connect({ entities: [User] });
  const worker = await world.start({
    ...{ dataSource, worker: RARE_POLL },
    handlers: { 'email.welcome': (job) => (job.payload as { to: string }).to },
  });
  await untilListening(worker);
  const { connect } = (await import(join(examples.project, `setups/${orm}.ts`))) as { connect: Connect };
  const { url, database } = world.connection as { url?: string; database?: string };
  const { signUp, close } = await connect({
    ...{ type: world.server.name === 'sqlite' ? 'better-sqlite3' : world.server.name, place: url ?? database! },
    ...{ dataSource, producer: worker.producer },
  });
  world.afterTest(() => dropTable(world));
  world.afterTest(close);
  return { signUp, worker, world };
}

async function dropTable({ sql }: World): Promise<void> {
  await sql('DROP TABLE user');
}

/** Waits until only a notification can make the worker find a job. */
async function untilListening({ workerChannel, runner }: Engine): Promise<void> {
  await workerChannel.untilListening();
  await runner.whenIdle();
  await workerChannel.untilListening();
}
