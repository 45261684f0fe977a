import { EMPTY, NEVER, of, throwError } from 'rxjs';
import { JobContext, QueueAdmin, QueueProcessor, QueueProducer, UnrecoverableError } from 'nestjs-sql-queue';
import { start } from './support/application.js';

describe('the return value of a handler', () => {
  it.each([
    ['a value', () => ({ a: [1, 'b', null] }), { a: [1, 'b', null] }],
    ['a promise', () => Promise.resolve('later'), 'later'],
    ['the last value of an observable', () => of(1, 2, 3), 3],
    ['an empty observable', () => EMPTY, null],
    ['nothing', () => undefined, null],
    ['false', () => false, false],
  ])('completes the job with %s', async (_title, answer, result) => {
    class Handlers {
      @QueueProcessor('q')
      handle(): unknown {
        return answer();
      }
    }
    const { get, ended } = await start({ providers: [Handlers] });

    const job = await get(QueueProducer).enqueue('q', null);

    expect(await ended(job)).toMatchObject({ state: 'completed', result, attempt: 1 });
  });
});

describe('the error of a handler', () => {
  class BoomError extends Error {
    override readonly name = 'BoomError';
  }

  it.each([
    ['at once', () => Promise.reject(new BoomError('boom'))],
    [
      'in a promise',
      () => {
        throw new BoomError('boom');
      },
    ],
    ['in an observable', () => throwError(() => new BoomError('boom'))],
  ])('fails the attempt: %s', async (_title, answer) => {
    const attempts: number[] = [];
    class Handlers {
      @QueueProcessor('q', { retry: 3 })
      handle(job: JobContext): unknown {
        attempts.push(job.attempt);
        return answer();
      }
    }
    const { get, ended, log } = await start({ providers: [Handlers] });

    const job = await get(QueueProducer).enqueue('q', null);

    expect(await ended(job)).toMatchObject({
      state: 'dead',
      error: { name: 'BoomError', message: 'boom', stack: expect.stringContaining('results.spec') as unknown },
    });
    expect(attempts).toEqual([1, 2, 3]);
    // Only the queue logs the error; Nest does not.
    expect(log.at('error')).toEqual([
      expect.stringMatching(/^Job \d+ .* is dead after attempt 3 of 3: BoomError: boom$/),
    ]);
  });

  it('fails the job finally if it is an UnrecoverableError', async () => {
    class Handlers {
      @QueueProcessor('q', { retry: 3 })
      handle() {
        throw new UnrecoverableError('no such user');
      }
    }
    const { get, ended } = await start({ providers: [Handlers] });

    const job = await get(QueueProducer).enqueue('q', null);

    expect(await ended(job)).toMatchObject({ state: 'dead', attempt: 1, error: { message: 'no such user' } });
  });
});

describe('a handler with an outcome of its own', () => {
  it.each(['release', 'snooze', 'discard'] as const)('ends by %s(), and Nest logs no error', async (verb) => {
    class Handlers {
      runs = 0;

      @QueueProcessor('q')
      handle(job: JobContext) {
        if (++this.runs > 1) return 'done';
        if (verb === 'release') return job.release();
        if (verb === 'snooze') return job.snooze('1h');
        return job.discard('not wanted any more');
      }
    }
    const { get, ended, log } = await start({ providers: [Handlers] });

    const job = await get(QueueProducer).enqueue('q', null);

    const expected = {
      release: { state: 'completed', result: 'done', attempt: 1 },
      snooze: { state: 'scheduled', attempt: 0 },
      discard: { state: 'dead', error: { message: 'not wanted any more' } },
    };
    expect(await ended(job)).toMatchObject(expected[verb]);
    expect(log.at('error').filter((line) => !line.includes('is dead after'))).toEqual([]);
  });
});

describe('a handler with an endless observable', () => {
  it('times out', async () => {
    class Handlers {
      @QueueProcessor('q', { timeout: '10ms' })
      handle() {
        return NEVER;
      }
    }
    const { get, ended } = await start({ providers: [Handlers] });

    const job = await get(QueueProducer).enqueue('q', null);

    expect(await ended(job)).toMatchObject({ state: 'dead', error: { name: 'JobTimeoutError' } });
    expect(await get(QueueAdmin).counts('q')).toMatchObject({ active: 0, dead: 1 });
  });
});
