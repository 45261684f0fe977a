import { Controller, Get, type INestApplication, type ModuleMetadata } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { QueueAdmin, QueueProcessor, QueueProducer, SqlQueueModule, SqlQueueRunner } from 'nestjs-sql-queue';
import {
  getHealthIndicatorToken,
  SqlQueueHealthIndicator,
  SqlQueueTerminusModule,
  type ProblemsOptions,
  type ReadinessOptions,
} from 'nestjs-sql-queue/terminus';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { eventually } from '../support/eventually.js';
import { addNextMigration } from '../support/next-migration.js';
import { OwnServer } from '../support/own-server.js';
import { describeServers } from '../support/servers.js';
import { afterTest, FAST_POLL, gate, IN_MEMORY, Log, queueModule, temporaryFolder } from './support/application.js';

declare const NEST_MAJOR: number;

let readinessOptions: ReadinessOptions;
let problemsOptions: ProblemsOptions;
beforeEach(() => (readinessOptions = problemsOptions = {}));

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly queue: SqlQueueHealthIndicator,
  ) {}

  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.queue.check('queue', readinessOptions)]);
  }

  @Get('problems')
  @HealthCheck()
  problems() {
    return this.health.check([() => this.queue.checkProblems('queue', problemsOptions)]);
  }

  @Get('live')
  @HealthCheck()
  live() {
    return this.health.check([() => this.queue.checkLiveness('queue')]);
  }
}

/** Runs one job at a time, until the test opens the gate. */
class Slow {
  readonly started = gate();
  readonly opened = gate();

  @QueueProcessor('slow', { concurrency: 1 })
  async run() {
    this.started.give();
    await this.opened.given;
  }
}

/** Hours that do not contain the time of this test. */
function laterToday() {
  const hour = (later: number) => `${String((new Date().getUTCHours() + later) % 24).padStart(2, '0')}:00`;
  return { from: hour(2), to: hour(4) };
}

interface Answer {
  code: number;
  status: string;
  facts: Record<string, unknown>;
}

async function serve({ imports = [], ...metadata }: ModuleMetadata): Promise<{
  app: INestApplication;
  ask: (path: string) => Promise<Answer>;
  close: () => Promise<void>;
}> {
  const module = await Test.createTestingModule({
    imports: [...imports, TerminusModule, SqlQueueTerminusModule.forRoot()],
    controllers: [HealthController],
    ...metadata,
  })
    .setLogger(new Log())
    .compile();
  const app = module.createNestApplication();
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= app.close());
  afterTest(close);
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const ask = async (path: string) => {
    const response = await fetch(`${url}/health/${path}`, { headers: { connection: 'close' } });
    const body = (await response.json()) as { details: { queue: Record<string, unknown> } };
    const { status, ...facts } = body.details.queue;
    return { code: response.status, status: String(status), facts };
  };
  return { app, ask, close };
}

describe('health checks', () => {
  it('are up over HTTP while the worker runs', async () => {
    const { ask } = await serve({ imports: [queueModule()], providers: [Slow] });

    expect(await ask('ready')).toMatchObject({
      code: 200,
      status: 'up',
      facts: { runner: 'running', schema: 'current' },
    });
    expect(await ask('live')).toMatchObject({ code: 200, status: 'up', facts: { runner: 'running' } });
  });

  it('are up in a process that only produces, and readiness is down there if it requires a worker', async () => {
    const { ask } = await serve({ imports: [queueModule({ worker: false })] });

    expect(await ask('ready')).toMatchObject({ code: 200, facts: { runner: 'stopped' } });
    expect(await ask('live')).toMatchObject({ code: 200 });
    readinessOptions = { requireRunner: true };
    expect(await ask('ready')).toMatchObject({ code: 503, facts: { reason: 'The worker is stopped' } });
  });

  it('readiness is down after the worker was stopped', async () => {
    const { app, ask } = await serve({ imports: [queueModule()], providers: [Slow] });

    await app.get(SqlQueueRunner).stop();

    expect(await ask('ready')).toMatchObject({ code: 503, status: 'down', facts: { runner: 'stopped' } });
    readinessOptions = { requireRunner: false };
    expect(await ask('ready')).toMatchObject({ code: 200 });
    expect(await ask('live')).toMatchObject({ code: 200 });
  });

  it.each([
    ['a worker', [Slow]],
    ['no worker', []],
  ])('readiness is down in a process with %s from the start of app.close() until HTTP closes', async (_, providers) => {
    const closing = gate();
    const closed = gate();
    const hook = { provide: 'hook', useValue: { beforeApplicationShutdown: () => (closing.give(), closed.given) } };
    const { ask, close } = await serve({ imports: [queueModule()], providers: [...providers, hook] });
    expect(await ask('ready')).toMatchObject({ code: 200 });

    const ended = close();
    await closing.given;

    expect(await ask('ready')).toMatchObject({
      code: 503,
      status: 'down',
      facts: { reason: 'The application is closing' },
    });
    closed.give();
    await ended;
    await expect(ask('ready')).rejects.toThrow('fetch failed');
  });

  it('readiness says how many jobs run, and is degraded but not down while jobs wait for too long', async () => {
    const { app, ask } = await serve({ imports: [queueModule()], providers: [Slow] });
    const { started, opened } = app.get(Slow);
    await app.get(QueueProducer).enqueueMany('slow', [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    await started.given;
    await app.get(QueueProducer).enqueue('other', 1);
    await ask('live');
    const lagging = NEST_MAJOR === 11 ? { status: 'up', facts: { degraded: true } } : { status: 'degraded' };

    readinessOptions = { maxLag: 1, queues: ['oth*'] };
    // The samples of the statistics are up to five seconds old.
    const answer = await eventually(async () => {
      const found = await ask('ready');
      return found.facts.lagging !== undefined && found;
    });

    expect(answer).toMatchObject({ code: 200, ...lagging });
    expect(answer.facts).toMatchObject({ lagging: ['other'], reason: 'Jobs wait for too long', running: 1 });
    readinessOptions = { maxLag: '1h' };
    expect(await ask('ready')).toMatchObject({ code: 200, status: 'up' });
    opened.give();
  });

  it('are degraded by queues that are broken by the rules of the problems, and down only by the rules of the option', async () => {
    const { app, ask } = await serve({ imports: [queueModule()], providers: [Slow] });
    await app.get(QueueAdmin).pause('paused', { create: true });
    await app.get(QueueProducer).enqueue('paused', 1);
    await app.get(QueueProducer).enqueue('unserved', 1);
    const degraded = NEST_MAJOR === 11 ? { status: 'up', facts: { degraded: true } } : { status: 'degraded' };

    const broken = await ask('problems');
    problemsOptions = { degraded: ['paused'] };
    const paused = await ask('problems');
    problemsOptions = { down: ['no-worker', 'failing'] };
    const isDown = await ask('problems');
    problemsOptions = { down: ['no-worker'], queues: ['slow', 'pau*'] };
    const others = await ask('problems');

    const noWorker = { rule: 'no-worker', queue: 'unserved', message: expect.stringContaining('No worker serves') };
    expect(broken).toMatchObject({ code: 200, ...degraded });
    expect(broken.facts).toMatchObject({ problems: [noWorker], reason: '1 problem' });
    expect(paused).toMatchObject({ code: 200, ...degraded });
    expect(paused.facts).toMatchObject({ problems: [{ rule: 'paused', queue: 'paused' }] });
    expect(isDown).toMatchObject({ code: 503, status: 'down', facts: { problems: [noWorker] } });
    expect(others).toMatchObject({ code: 200, status: 'up', facts: { problems: [] } });
    const { severity } = (await app.get(QueueAdmin).problems()).find(({ rule }) => rule === 'no-worker')!;
    expect(severity).toBe('broken');
  });

  it('readiness ignores the lag of queues that run no jobs now, and of queues that it does not name', async () => {
    const { app, ask } = await serve({ imports: [queueModule()], providers: [Slow] });
    const [admin, producer] = [app.get(QueueAdmin), app.get(QueueProducer)];
    await admin.pause('paused', { create: true });
    await admin.configure('disabled', { enabled: false }, { create: true });
    await admin.configure('later', { enabled: laterToday() }, { create: true });
    for (const queue of ['paused', 'disabled', 'later', 'other']) await producer.enqueue(queue, 1);
    // A request later, the job has waited for more than a millisecond.
    await ask('live');

    readinessOptions = { maxLag: 1 };
    const all = await eventually(async () => (await ask('ready')).facts.lagging);
    readinessOptions = { maxLag: 1, queues: ['slow', 'paused', 'disabled', 'later'] };

    expect(all).toEqual(['other']);
    expect(await ask('ready')).toMatchObject({ code: 200, status: 'up' });
  });

  it('readiness is down without tables or with older ones, and degraded with newer ones', async () => {
    const connection = { type: 'better-sqlite3', database: join(await temporaryFolder(), 'q.sqlite') } as const;
    const { ask } = await serve({ imports: [queueModule({ connection })] });
    const other = await new DataSource(connection).initialize();
    afterTest(() => other.destroy());
    const setVersion = (version: number) => other.query(`UPDATE sql_queue_schema SET version = ${version}`);

    addNextMigration();
    const older = await ask('ready');
    await setVersion(9_999);
    const newer = await ask('ready');
    await other.query('DROP TABLE sql_queue_schema');
    const missing = await ask('ready');

    expect(older).toMatchObject({ code: 503, facts: { schema: 'older' } });
    expect(newer).toMatchObject({
      code: 200,
      status: NEST_MAJOR === 11 ? 'up' : 'degraded',
      facts: { schema: 'newer' },
    });
    expect(missing).toMatchObject({ code: 503, facts: { schema: 'missing' } });
  });

  it('reads no version of the tables if the application does not let the module check it', async () => {
    const connection = { type: 'better-sqlite3', database: join(await temporaryFolder(), 'q.sqlite') } as const;
    await (await serve({ imports: [queueModule({ connection })] })).close();
    const { ask } = await serve({ imports: [queueModule({ connection, schema: { migrate: 'off' } })] });

    expect(await ask('ready')).toMatchObject({ code: 200, facts: { schema: 'unchecked' } });
  });

  it('name all invalid options at once', async () => {
    const { app } = await serve({ imports: [queueModule()] });
    const indicator = app.get(SqlQueueHealthIndicator, { strict: false });

    const ready = indicator.check('queue', { maxLag: 'soon', queues: [''], maxAge: 1 } as never);
    const live = indicator.checkLiveness('queue', { maxPollAge: 0 });

    await expect(ready).rejects.toThrow(/unknown option "maxAge"[\s\S]*maxLag[\s\S]*queues/);
    await expect(live).rejects.toThrow('expected maxPollAge to be a duration');
  });

  it('of a named instance have a token of its name', async () => {
    const module = await Test.createTestingModule({
      imports: [
        SqlQueueModule.forRoot({ name: 'audit', prefix: 'audit_', connection: IN_MEMORY, isGlobal: false }),
        SqlQueueTerminusModule.forRoot({ instance: 'audit' }),
      ],
    })
      .setLogger(new Log())
      .compile();
    afterTest(() => module.close());
    await module.init();

    const indicator = module.get<SqlQueueHealthIndicator>(getHealthIndicatorToken('audit'), { strict: false });

    expect(await indicator.check('audit')).toMatchObject({ audit: { status: 'up', schema: 'current' } });
  });

  it('fail at boot without the module of the queue', async () => {
    const module = await Test.createTestingModule({ imports: [SqlQueueTerminusModule.forRoot()] })
      .setLogger(new Log())
      .compile();

    await expect(module.init()).rejects.toThrow('expected SqlQueueModule.forRoot() in the application, got none');
  });
});

describeServers(
  'health checks during an outage',
  ({ name }) => {
    let own: OwnServer;
    beforeAll(async () => {
      own = await OwnServer.start(name as 'mysql' | 'mariadb');
    });
    afterAll(() => own.end());

    it.each([
      ['a worker', [Slow]],
      ['no worker', []],
    ])('keep a process with %s alive, and not ready until the database is back', async (title, providers) => {
      const connection = await own.emptyDatabase(title.replace(' ', '_'));
      const { app, ask } = await serve({
        imports: [SqlQueueModule.forRoot({ connection, worker: FAST_POLL })],
        providers,
      });
      const { downSince } = { downSince: () => app.get(SqlQueueRunner).health().databaseDownSince };
      readinessOptions = { timeout: '1s' };
      expect(await ask('ready')).toMatchObject({ code: 200, status: 'up' });
      expect(downSince()).toBeNull();

      const startAgain = await own.stop('SIGKILL');
      const first = await ask('ready');
      readinessOptions = { timeout: '1s', maxOutage: 1 };
      const down = await eventually(async () => {
        const answer = await ask('ready');
        return answer.code === 503 && answer;
      });
      const live = await ask('live');
      if (providers.length > 0) await eventually(() => downSince() !== null);
      await startAgain();
      const back = await eventually(async () => {
        const answer = await ask('ready');
        return answer.code === 200 && answer;
      });

      expect(first.code).toBe(200);
      expect(down.facts).toMatchObject({ reason: 'The database is away' });
      expect(live).toMatchObject({ code: 200, status: 'up' });
      expect(back.facts).toMatchObject({ schema: 'current' });
      if (providers.length > 0) await eventually(() => downSince() === null);
    });
  },
  ['mysql', 'mariadb'],
);
