import { JobContext, QueueProcessor, SqlQueueModule, type QueueOptionsByName } from 'nestjs-sql-queue';
import { start } from './support/application.js';

class Emails {
  @QueueProcessor('email.send', { deadLetter: 'email.dead' })
  send(job: JobContext) {
    return job.id;
  }
}

// Loaded, as a file that a process imports, and not always provided.
@QueueProcessor('report.build')
export class Reports {
  handle(job: JobContext) {
    return job.id;
  }
}

describe('a process that works', () => {
  it('warns of a queue in `queues` that it has options of workers for and no handler', async () => {
    const { log } = await start({ providers: [Emails] }, { queues: { 'email.sned': { concurrency: 5 } } });

    expect(log.at('warn')).toEqual([
      'queues["email.sned"] sets concurrency, but this process has no handler for it, did you mean "email.send"? If another ' +
        'process works the queue, name it in `worker.queues.exclude` here.',
    ]);
  });

  it('warns of a class that is decorated, configured, and provided by no module', async () => {
    const { log } = await start({ providers: [Emails] }, { queues: { 'report.build': { timeout: '5m' } } });

    expect(log.at('warn').join()).toContain(
      'no handler for it: no module provides Reports, so add its class to the `providers` of one.',
    );
  });

  it('warns of a queue that it includes and has no handler for', async () => {
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

  it('warns if it works no queue although handlers are loaded', async () => {
    const { log } = await start({});

    expect(log.at('warn')).toEqual([
      'This process works no queue: no module provides Emails.send (queue "email.send"), Reports (queue "report.build"). Add the ' +
        'classes to the `providers` of a module, or set `worker: false` if the process only produces.',
    ]);
  });

  it.each<[string, QueueOptionsByName]>([
    ['a queue that it works', { 'email.send': { concurrency: 5 } }],
    ['a queue with options that mean something to producers', { 'photo.check': { lease: '1h', maxWaiting: 10 } }],
    ['its dead-letter queue', { 'email.dead': { concurrency: 1 } }],
    ['a queue that it puts jobs into by forFeature()', { 'email.welcome': { concurrency: 1 } }],
    ['a pattern', { 'report.*': { concurrency: 1 } }],
    ['a queue that it leaves out', { 'report.write': { concurrency: 1 } }],
  ])('says nothing of %s', async (_what, queues) => {
    const { log } = await start(
      { providers: [Emails], imports: [SqlQueueModule.forFeature(['email.welcome'])] },
      { queues, worker: { queues: { exclude: ['report.write'] } } },
    );

    expect(log.at('warn')).toEqual([]);
  });
});

it('says nothing of queues in a process that only produces', async () => {
  const { log } = await start({}, { worker: false, queues: { 'report.build': { concurrency: 5 } } });

  expect(log.at('warn')).toEqual([]);
});
