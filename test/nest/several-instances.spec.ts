import { Inject, Injectable, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  getAdminToken,
  getProducerToken,
  getQueueToken,
  getRunnerToken,
  InjectQueue,
  JobContext,
  JobHandler,
  OnQueueEvent,
  Queue,
  QueueAdmin,
  QueueConsumer,
  QueueProcessor,
  QueueProducer,
  SqlQueueModule,
  SqlQueueRunner,
  type QueueEvent,
} from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { compile, IN_MEMORY, queueModule, startErrorOf } from './support/application.js';

class Mails {
  readonly calls: string[] = [];

  @QueueProcessor('mail')
  main(job: JobContext<string>) {
    this.calls.push(`main ${job.payload}`);
  }

  @QueueProcessor('mail', { instance: 'audit', concurrency: 2 })
  audit(job: JobContext<string>) {
    this.calls.push(`audit ${job.payload}`);
  }

  @OnQueueEvent('completed', { instance: 'audit' })
  audited({ queue }: QueueEvent) {
    this.calls.push(`completed ${queue}`);
  }
}

@QueueProcessor('reports', { instance: 'audit' })
class Reports {
  @JobHandler('weekly')
  weekly() {
    return 'weekly';
  }
}

@Injectable()
class Sender {
  constructor(
    @InjectQueue('mail') readonly mail: Queue,
    @InjectQueue('mail', { instance: 'audit' }) readonly audit: Queue,
    @Inject(getProducerToken('audit')) readonly producer: QueueProducer,
  ) {}
}

const two = [queueModule(), queueModule({ name: 'audit' })];

describe('several instances of the module in one application', () => {
  /** Two instances with tables of their own in one database. */
  function sharing() {
    const shared = { connection: undefined, worker: false } as const;
    return compile({
      imports: [
        TypeOrmModule.forRoot({ ...IN_MEMORY, autoLoadEntities: true }),
        queueModule(shared),
        queueModule({ ...shared, name: 'audit', prefix: 'audit_' }),
      ],
    });
  }

  it('run their own handlers and notify their own listeners', async () => {
    const { app, get } = await compile({
      imports: [
        ...two,
        SqlQueueModule.forFeature(['mail']),
        SqlQueueModule.forFeature(['mail'], { instance: 'audit' }),
      ],
      providers: [Mails, Reports, Sender],
    });
    await app.init();

    await get(Sender).mail.enqueue('a');
    await get(SqlQueueRunner).whenIdle();
    await get(Sender).audit.enqueue('b');
    await get<SqlQueueRunner>(getRunnerToken('audit')).whenIdle();

    expect(get(Mails).calls).toEqual(['main a', 'audit b', 'completed mail']);
    expect(get(Sender).producer).toBe(app.get(getProducerToken('audit')));
    expect(get(Sender).producer).not.toBe(get(QueueProducer));
    expect(get(getQueueToken('mail', 'audit'))).toBe(get(Sender).audit);
  });

  it('share a database if each has a prefix', async () => {
    const { app, get } = await sharing();
    await app.init();

    await get(QueueProducer).enqueue('mail', 'a');
    await get<QueueProducer>(getProducerToken('audit') as string).enqueue('mail', 'b');

    expect(await get(DataSource).query('SELECT payload FROM sql_queue_jobs')).toEqual([{ payload: '"a"' }]);
    expect(await get(DataSource).query('SELECT payload FROM audit_jobs')).toEqual([{ payload: '"b"' }]);
  });

  it('neither read nor change jobs in the tables of another instance', async () => {
    const { app, get } = await sharing();
    await app.init();
    const { id } = await get<QueueProducer>(getProducerToken('audit') as string).enqueue('check', 0);
    const own = get(getAdminToken('audit'));
    const before = await own.get(id);
    const foreign = get(QueueAdmin);

    const answers = [
      ...[await foreign.get(id), await foreign.logs(id), await foreign.cancel(id)],
      ...[await foreign.retry([id]), await foreign.remove([id])],
    ];
    const refused = await get(QueueConsumer)
      .assign(id, 'ann')
      .catch((error: unknown) => error);

    expect(answers).toEqual([null, { lines: [] }, false, 0, 0]);
    expect(refused).toMatchObject({ code: 'JOB_NOT_FOUND', jobId: id });
    expect(await own.get(id)).toEqual(before);
  });

  it('log the handlers of each instance', async () => {
    const { app, log } = await compile({ imports: two, providers: [Mails] });

    await app.init();

    expect(log.at('log')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^mail → Mails\.main: concurrency 10,/),
        expect.stringMatching(/^mail → Mails\.audit: concurrency 2,/),
      ]),
    );
  });

  it('reject handlers for an unknown instance name', async () => {
    class Typo {
      @QueueProcessor('mail', { instance: 'adit' })
      main() {}

      @OnQueueEvent('dead', { instance: 'adit' })
      dead() {}
    }

    const error = await startErrorOf({ imports: two, providers: [Typo] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toMatch(/Typo\.main: .* got instance "adit" \(known: .*audit\)/);
    expect(error.message).toMatch(/Typo\.dead: .*"adit"/);
  });

  it('reject a queue for an unknown instance name', async () => {
    const error = await startErrorOf({ imports: [...two, SqlQueueModule.forFeature(['mail'], { instance: 'adit' })] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toContain(`expected SqlQueueModule.forRoot({ name: 'adit' }) in the application, got none`);
  });

  it('need distinct names', async () => {
    const error = await startErrorOf({ imports: [queueModule({ name: 'audit' }), queueModule({ name: 'audit' })] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toContain('expected one SqlQueueModule of the name "audit", got 2');
  });

  it('can be the same instance, imported from several places', async () => {
    const audit = queueModule({ name: 'audit' });
    @Module({ imports: [audit] })
    class Feature {}

    const { app } = await compile({ imports: [queueModule(), audit, Feature] });

    await expect(app.init()).resolves.toBeDefined();
  });

  it.each(['', 'with space', 'a'.repeat(51)])('cannot have the name %o', (name) => {
    expect(() => SqlQueueModule.forRoot({ name })).toThrow(/expected name to be 1 to 50 of the characters/);
  });

  it.each(['', 'a-b', 'drop table', 'a'.repeat(41)])('cannot have the prefix %o', (prefix) => {
    expect(() => SqlQueueModule.forRoot({ prefix })).toThrow(/prefix/);
  });
});
