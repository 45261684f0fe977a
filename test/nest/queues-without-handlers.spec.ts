import { JobContext, QueueProcessor, SqlQueueModule, type QueueOptionsByName } from 'nestjs-sql-queue';
import { start } from './support/application.js';

class Emails {
  @QueueProcessor('email.send', { deadLetter: 'email.dead' })
  send(job: JobContext) {
    return job.id;
  }
}

// Declared, like a class in an imported file, but not always provided.
@QueueProcessor('report.build')
export class Reports {
  handle(job: JobContext) {
    return job.id;
  }
}

describe('a process with a worker', () => {
  it('warns of a queue in `queues` with worker options but no handler', async () => {
    const { log } = await start({ providers: [Emails] }, { queues: { 'email.sned': { concurrency: 5 } } });

    expect(log.at('warn')).toEqual([
      'queues["email.sned"] sets concurrency, but this process has no handler for it, did you mean "email.send"? If another ' +
        'process works the queue, name it in `worker.queues.exclude` here.',
    ]);
  });

  it('warns of a configured handler class that no module provides', async () => {
    const { log } = await start({ providers: [Emails] }, { queues: { 'report.build': { timeout: '5m' } } });

    expect(log.at('warn').join()).toContain(
      'no handler for it: no module provides Reports, so add its class to the `providers` of one.',
    );
  });

  it('warns of an included queue without a handler', async () => {
    const { log } = await start(
      { providers: [Emails] },
      { worker: { queues: { include: ['email.*', 'report.build', 'other'] } } },
    );

    expect(log.at('warn')).toEqual([
      expect.stringContaining(
        'worker.queues.include names "report.build", but this process has no handler for it: no module',
      ),
      'worker.queues.include names "other", but this process has no handler for it.',
    ]);
  });

  it('warns if it works no queue although handler classes are loaded', async () => {
    const { log } = await start({}, { unprovided: 'warn' });

    expect(log.at('warn')).toEqual([
      'This process works no queue: no module provides Emails.send (queue "email.send"), Reports (queue "report.build"). Add the ' +
        'classes to the `providers` of a module, or set `worker: false` if the process only produces.',
    ]);
  });

  it.each<[string, QueueOptionsByName]>([
    ['a queue with a handler', { 'email.send': { concurrency: 5 } }],
    ['a queue with options for producers', { 'photo.check': { lease: '1h', maxWaiting: 10 } }],
    ['its dead-letter queue', { 'email.dead': { concurrency: 1 } }],
    ['a queue of forFeature()', { 'email.welcome': { concurrency: 1 } }],
    ['a pattern', { 'report.*': { concurrency: 1 } }],
    ['an excluded queue', { 'report.write': { concurrency: 1 } }],
  ])('does not warn of %s', async (_what, queues) => {
    const { log } = await start(
      { providers: [Emails], imports: [SqlQueueModule.forFeature(['email.welcome'])] },
      { queues, worker: { queues: { exclude: ['report.write'] } } },
    );

    expect(log.at('warn')).toEqual([]);
  });
});

it('a process that only produces does not warn of queues without handlers', async () => {
  const { log } = await start({}, { worker: false, queues: { 'report.build': { concurrency: 5 } } });

  expect(log.at('warn')).toEqual([]);
});
