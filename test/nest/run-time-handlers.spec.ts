import { InvalidOptionsError, JobContext, QueueProcessor, QueueProducer } from 'nestjs-sql-queue';
import { startError, start } from './support/application.js';

class Mails {
  @QueueProcessor('mail')
  send() {}
}

describe('SqlQueueRunner.handle()', () => {
  it('works in an application without a decorated handler', async () => {
    const { get, runner, ended } = await start({});
    const producer = get(QueueProducer);

    const end = await runner.handle('plugin.one', { retention: { completed: '1h' } }, (job: JobContext) => job.payload);
    const job = await producer.enqueue('plugin.one', { x: 1 });

    expect(await ended(job)).toMatchObject({ state: 'completed', result: { x: 1 } });
    await end();
    expect(runner.queues).toEqual([]);
  });

  it('registers a handler before the start', async () => {
    const { get, runner, ended } = await start({}, { worker: { autoStart: false } });
    const job = await get(QueueProducer).enqueue('plugin.one', 0);

    await runner.handle('plugin.one', {}, () => 'done');
    await runner.start();

    expect(await ended(job)).toMatchObject({ state: 'completed' });
  });

  it('applies the options of the module, which override its own', async () => {
    const { get, runner, ended } = await start({}, { queues: { 'plugin.*': { retry: { attempts: 2, backoff: 0 } } } });
    let runs = 0;

    await runner.handle('plugin.one', { retry: { attempts: 5, backoff: 0 } }, () => {
      runs++;
      throw new Error('no luck');
    });
    const job = await get(QueueProducer).enqueue('plugin.one', 0);

    expect(await ended(job)).toMatchObject({ state: 'dead' });
    expect(runs).toBe(2);
  });

  it('rejects a queue with a decorated handler, and a dead-letter queue with one of its own', async () => {
    const { runner } = await start({ providers: [Mails] }, { queues: { letters: { deadLetter: 'more.letters' } } });

    await expect(runner.handle('mail', {}, () => 'done')).rejects.toThrow(InvalidOptionsError);
    await expect(runner.handle('x', { deadLetter: 'letters' }, () => 'done')).rejects.toThrow('dead-letter queue');
    expect(runner.queues).toEqual(['mail']);
  });

  it('does not work a queue that `worker.queues` excludes', async () => {
    const { get, runner, admin } = await start({}, { worker: { queues: { exclude: ['plugin.*'] } } });
    await runner.handle('plugin.one', {}, () => 'done');
    await get(QueueProducer).enqueue('plugin.one', 0);

    await runner.whenIdle();

    expect(runner.queues).toEqual([]);
    expect(await admin.counts('plugin.one')).toMatchObject({ waiting: 1 });
  });

  it('stops the boot together with a decorator for the same queue', async () => {
    class Plugin {
      constructor(private readonly runner: { handle: (...given: unknown[]) => Promise<unknown> }) {}

      async onModuleInit() {
        await this.runner.handle('mail', {}, () => 'done');
      }
    }
    const { SqlQueueRunner } = await import('nestjs-sql-queue');
    const error = await startError({
      providers: [
        Mails,
        { provide: Plugin, useFactory: (runner: never) => new Plugin(runner), inject: [SqlQueueRunner] },
      ],
    });

    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toContain('"mail"');
  });
});
