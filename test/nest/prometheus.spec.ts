import { Test } from '@nestjs/testing';
import { QueueProcessor, QueueProducer, SqlQueueRunner } from 'nestjs-sql-queue';
import { SqlQueuePrometheusModule } from 'nestjs-sql-queue/prometheus';
import { Registry } from 'prom-client';
import { afterTest, Log, queueModule } from './support/application.js';

class Mails {
  @QueueProcessor('mail')
  send() {
    return 'sent';
  }
}

async function start(...imports: object[]) {
  const module = await Test.createTestingModule({ imports: imports as never[], providers: [Mails] })
    .setLogger(new Log())
    .compile();
  // Nest 11 repeats the error of a failed start.
  afterTest(() => module.close().catch(() => undefined));
  await module.init();
  return module;
}

describe('SqlQueuePrometheusModule', () => {
  it('registers the metrics of the queue, and removes them when the application closes', async () => {
    const registry = new Registry();
    const module = await start(queueModule(), SqlQueuePrometheusModule.forRoot({ registry }));
    await module.get(QueueProducer).enqueue('mail', 1);
    await module.get(SqlQueueRunner).whenIdle();

    const text = await registry.metrics();
    await module.close();

    expect(text).toContain('sql_queue_enqueued_total{queue="mail"} 1');
    expect(text).toContain('sql_queue_job_runs_total{queue="mail",outcome="completed"} 1');
    expect(text).toContain('sql_queue_workers{queue="mail"} 1');
    expect(text).toContain('sql_queue_stats_up 1');
    expect(await registry.metrics()).toBe('\n');
  });

  it('fails without a registry, with invalid options, and without the module of the queue', async () => {
    const registry = new Registry();

    expect(() => SqlQueuePrometheusModule.forRoot({} as never)).toThrow('expected registry to be a Registry');
    expect(() => SqlQueuePrometheusModule.forRoot({ registry, names: 1, clusters: true } as never)).toThrow(
      /clusters[\s\S]*names/,
    );
    await expect(start(SqlQueuePrometheusModule.forRoot({ registry }))).rejects.toThrow(
      'expected SqlQueueModule.forRoot() in the application, got none',
    );
  });
});
