import { Catch, Controller, Injectable, UseFilters, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { of, throwError } from 'rxjs';
import { JobContext, QueueProcessor, QueueProducer } from 'nestjs-sql-queue';
import { start } from './support/application.js';

class BrokenError extends Error {}

class Work {
  run(job: JobContext<string>) {
    if (job.payload === 'snoozed') return job.snooze('1h');
    if (job.payload === 'broken') throw new BrokenError('broken');
    throw new TypeError('otherwise wrong');
  }
}

/** A handler with a filter that returns `answer`. */
function behind(answer: (error: Error, job: JobContext) => unknown) {
  const caught: Error[] = [];
  @Catch(BrokenError)
  class Filter implements ExceptionFilter {
    catch(error: Error, host: ArgumentsHost) {
      caught.push(error);
      return answer(error, host.getArgByIndex(0));
    }
  }
  @UseFilters(Filter)
  class Handlers extends Work {
    @QueueProcessor('work')
    override run(job: JobContext<string>) {
      return super.run(job);
    }
  }
  return { Handlers, caught };
}

describe('an exception filter on a handler', () => {
  it.each([
    ['its value', (error: Error, job: JobContext) => `${error.message} ${String(job.payload)}`, 'broken broken'],
    ['its promise', () => Promise.resolve('later'), 'later'],
    ['its observable', () => of('emitted'), 'emitted'],
    ['false', () => false, false],
  ])('turns a failure into a result: %s', async (_title, answer, result) => {
    const { Handlers } = behind(answer);
    const { get, ended } = await start({ providers: [Handlers] });

    const job = await get(QueueProducer).enqueue('work', 'broken');

    expect(await ended(job)).toMatchObject({ state: 'completed', result });
  });

  it.each([
    ['nothing', () => undefined],
    ['a promise of nothing', () => Promise.resolve()],
  ])('with a return value of %s only observes the error', async (_title, answer) => {
    const { Handlers, caught } = behind(answer);
    const { get, ended, log } = await start({ providers: [Handlers] });

    const job = await get(QueueProducer).enqueue('work', 'broken');

    expect(await ended(job)).toMatchObject({ state: 'dead', error: { message: 'broken' } });
    expect(caught).toHaveLength(1);
    expect(log.at('error')).toEqual([
      expect.stringMatching(/^Job \d+ .* is dead after attempt \d of \d: Error: broken$/),
    ]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('translated');
      },
    ],
    ['rejects', () => Promise.reject(new Error('translated'))],
    ['lets its observable fail', () => throwError(() => new Error('translated'))],
  ])('replaces the error if it %s', async (_title, answer) => {
    const { Handlers } = behind(answer);
    const { get, ended } = await start({ providers: [Handlers] });

    const job = await get(QueueProducer).enqueue('work', 'broken');

    expect(await ended(job)).toMatchObject({ state: 'dead', error: { message: 'translated' } });
  });

  it('leaves other errors unchanged, and Nest logs none of them', async () => {
    const { Handlers, caught } = behind(() => 'never');
    const { get, ended, log } = await start({ providers: [Handlers] }, { enhancers: 'all' });

    const job = await get(QueueProducer).enqueue('work', 'otherwise');

    expect(await ended(job)).toMatchObject({ state: 'dead', error: { name: 'TypeError' } });
    expect(caught).toEqual([]);
    expect(log.at('error')).toEqual([expect.stringMatching(/^Job \d+ .* is dead after attempt \d of \d: TypeError: /)]);
  });

  it('for all errors does not catch the snooze of a job', async () => {
    const caught: unknown[] = [];
    @Catch()
    @Injectable()
    class All implements ExceptionFilter {
      catch(error: unknown) {
        caught.push(error);
        return 'swallowed';
      }
    }
    @Controller()
    class Handlers extends Work {
      @QueueProcessor('work')
      @UseFilters(All)
      override run(job: JobContext<string>) {
        return super.run(job);
      }
    }
    const { get, ended, log } = await start({ controllers: [Handlers] });

    const snoozed = await get(QueueProducer).enqueue('work', 'snoozed');
    const broken = await get(QueueProducer).enqueue('work', 'broken');

    expect(await ended(snoozed)).toMatchObject({ state: 'scheduled', attempt: 0 });
    expect(await ended(broken)).toMatchObject({ state: 'completed', result: 'swallowed' });
    expect(caught).toHaveLength(1);
    expect(log.at('error')).toEqual([]);
  });
});
