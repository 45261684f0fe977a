import type { Type } from '@nestjs/common';
import {
  InvalidOptionsError,
  JobContext,
  QueueProcessor,
  QueueProducer,
  type QueueOptions,
  type SqlQueueModuleOptions,
} from 'nestjs-sql-queue';
import { startError, start } from './support/application.js';

const refused = async (options: SqlQueueModuleOptions, ...providers: Type[]) =>
  (await startError({ providers }, options)) as InvalidOptionsError;

describe('dead-letter queues', () => {
  it('are rejected all at once if one is the queue itself or has a dead-letter queue of its own', async () => {
    const itself = await refused({ queues: { q: { deadLetter: 'q' }, r: { deadLetter: 'not fine' } } });
    const chained = await refused({
      queues: { a: { deadLetter: 'b' }, b: { deadLetter: 'c' }, 'x.*': { deadLetter: 'a' } },
    });

    expect(itself.problems).toEqual([
      'queues["q"]: expected deadLetter to be another queue, got "q"',
      expect.stringMatching(/^queues\["r"\]: expected deadLetter to be false or 1 to 100 of .*, got "not fine"$/),
    ]);
    expect(chained).toMatchObject({
      code: 'INVALID_OPTIONS',
      problems: [
        'dead-letter queue "b": expected none of its own, got "c". Set `deadLetter: false` for "b"',
        'dead-letter queue "a": expected none of its own, got "b". Set `deadLetter: false` for "a"',
      ],
    });
  });

  it('are rejected if a decorator names its own queue or closes a cycle', async () => {
    class Own {
      @QueueProcessor('q', { deadLetter: 'q' })
      handle() {}
    }
    class Circle {
      @QueueProcessor('b', { deadLetter: 'a' })
      handle() {}
    }

    const own = await refused({}, Own);
    const circle = await refused({ queues: { a: { deadLetter: 'b' } } }, Circle);

    expect(own.problems).toEqual(['Own.handle: expected deadLetter to be another queue, got "q"']);
    expect(circle.problems).toHaveLength(2);
  });

  it.each<[string, Record<string, QueueOptions>, QueueOptions]>([
    ['for all queues', {}, { deadLetter: 'mail.dead' }],
    ['for a prefix', { 'mail.*': { deadLetter: 'mail.dead' } }, {}],
  ])('can be configured %s without applying to the dead-letter queue itself', async (_, queues, defaults) => {
    class Mails {
      letters: string[] = [];

      @QueueProcessor('mail.send')
      send(job: JobContext) {
        job.discard('no');
      }

      @QueueProcessor('mail.dead')
      bury(job: JobContext) {
        this.letters.push(job.headers['dead-letter.queue']!);
        job.discard('nor here');
      }
    }
    const { get, idle, admin } = await start({ providers: [Mails] }, { queues, defaults });

    await get(QueueProducer).enqueue('mail.send', 0);
    await idle();

    expect(get(Mails).letters).toEqual(['mail.send']);
    expect(await admin.counts()).toMatchObject({ dead: 2, waiting: 0 });
  });
});
