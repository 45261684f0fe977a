import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { JobContext, QueueProcessor, QueueProducer, type ContextPropagation } from 'nestjs-sql-queue';
import { start, startError } from './support/application.js';

const tenants = new AsyncLocalStorage<string>();

const context: ContextPropagation = {
  capture: () => ({ 'x-tenant': tenants.getStore() }),
  run: (headers, next) => tenants.run(headers['x-tenant'] ?? 'none', next),
};

class Reports {
  readonly tenants: unknown[] = [];

  @QueueProcessor('report')
  async build() {
    await setImmediate();
    this.tenants.push(tenants.getStore());
    return 'built';
  }

  @QueueProcessor('batch', { batch: 10 })
  batch() {
    this.tenants.push(tenants.getStore());
  }

  @QueueProcessor('parent')
  parent(job: JobContext) {
    return job.fanOut('report', [1]);
  }
}

async function startReports(given: ContextPropagation = context) {
  const world = await start({ providers: [Reports] }, { context: given });
  return { ...world, producer: world.get(QueueProducer), reports: world.get(Reports) };
}

describe('the context of a caller', () => {
  it('reaches the handler of each job, and the children of a handler', async () => {
    const { producer, reports, ended, idle } = await startReports();

    const job = await tenants.run('acme', () => producer.enqueue('report', 1));
    expect(await ended(job)).toMatchObject({ headers: { 'x-tenant': 'acme' }, result: 'built' });
    await ended(await producer.enqueue('report', 2));
    await tenants.run('initech', () => producer.flow((flow) => flow.add('parent', 1)));
    await idle();

    expect(reports.tenants).toEqual(['acme', 'none', 'initech']);
  });

  it('is overridden by a header of the call', async () => {
    const { producer, ended } = await startReports();

    const job = await tenants.run('acme', () => producer.enqueue('report', 1, { headers: { 'x-tenant': 'own' } }));

    expect(await ended(job)).toMatchObject({ headers: { 'x-tenant': 'own' } });
  });

  it('reaches a batch only as far as its jobs agree', async () => {
    const { producer, reports, runner, idle } = await startReports();
    const batchOf = async (...names: string[]) => {
      runner.pause('batch');
      for (const name of names) await tenants.run(name, () => producer.enqueue('batch', 1));
      runner.resume('batch');
      await idle();
    };

    await batchOf('acme', 'acme');
    await batchOf('acme', 'initech');

    expect(reports.tenants).toEqual(['acme', 'none']);
  });

  it('that cannot be captured or stored rejects the call', async () => {
    const broken = (capture: () => unknown) => startReports({ ...context, capture: capture as never });
    const throwing = await broken(() => {
      throw new Error('no request');
    });
    const invalid = await broken(() => ({ 'not valid': '1', number: 1 }));
    const large = await broken(() => ({ large: 'x'.repeat(20_000) }));

    await expect(throwing.producer.enqueue('report', 1)).rejects.toThrow('no request');
    await expect(invalid.producer.enqueue('report', 1)).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    await expect(large.producer.enqueue('report', 1)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(await large.admin.counts()).toMatchObject({ waiting: 0 });
  });

  it('that cannot be restored fails the attempt, so that no handler runs without it', async () => {
    const throws = () => {
      throw new Error('unknown tenant');
    };
    const forgets = () => undefined as never;
    for (const [run, message] of [
      [throws, 'unknown tenant'],
      [forgets, 'did not call next()'],
    ] as const) {
      const { producer, reports, ended } = await startReports({ ...context, run });

      const job = await ended(await producer.enqueue('report', 1));

      expect(job).toMatchObject({ state: 'dead', error: { message: expect.stringContaining(message) as unknown } });
      expect(reports.tenants).toEqual([]);
    }
  });

  it('needs both functions', async () => {
    const error = await startError({ providers: [Reports] }, { context: { capture: 1 } as never });

    expect(error.message).toContain('expected context.capture to be a function, got 1');
    expect(error.message).toContain('expected context.run to be a function, got undefined');
  });
});
