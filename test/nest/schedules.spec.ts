import { JobContext, JobHandler, QueueProcessor, QueueSchedules, Schedule } from 'nestjs-sql-queue';
import { queueModule, startErrorOf, start } from './support/application.js';

describe('@Schedule()', () => {
  it('enqueues jobs for the handler, with the name of the @JobHandler', async () => {
    const seen: unknown[] = [];
    let done!: () => void;
    const twice = new Promise<void>((resolve) => (done = resolve));
    @QueueProcessor('report')
    class Reports {
      @JobHandler('build')
      @Schedule('build-report', { every: 100, payload: { kind: 'daily' } })
      @Schedule('second', { cron: '0 0 1 1 *', tz: 'Europe/Berlin', until: new Date('2999-01-01') })
      build(job: JobContext<{ kind: string }>) {
        seen.push([job.name, job.payload, job.schedule?.name]);
        if (seen.length === 2) done();
      }
    }
    const { get } = await start({ providers: [Reports] });
    await twice;

    expect(seen.slice(0, 2)).toEqual([1, 2].map(() => ['build', { kind: 'daily' }, 'build-report']));
    expect((await get(QueueSchedules).list()).map(({ name, source }) => [name, source])).toEqual([
      ['build-report', 'code'],
      ['second', 'code'],
    ]);
  });

  it('rejects invalid schedules at boot, all at once', async () => {
    class Reports {
      @QueueProcessor('a')
      @Schedule('bad cron', { cron: '61 * * * *' })
      a() {}

      @QueueProcessor('b')
      @Schedule('zone', { cron: '0 0 * * *', tz: 'Mars/Olympus' })
      b() {}

      @QueueProcessor('c')
      @Schedule('never', { cron: '0 0 30 2 *' })
      @Schedule('both', { cron: '0 0 * * *', every: '1h' })
      @Schedule('fast', { every: 50 })
      @Schedule('typo', { every: '1h', jiter: '1m' } as never)
      c() {}
    }

    const { message } = await startErrorOf({ imports: [queueModule()], providers: [Reports] });

    expect(message).toContain('Reports.a: Schedule: expected the name to be 1 to 100 of the characters');
    expect(message).toContain(
      'Reports.b: Schedule "zone": expected tz to be a time zone such as Europe/Berlin, got "Mars',
    );
    expect(message).toContain('Schedule "never": expected cron to have a tick, got "0 0 30 2 *"');
    expect(message).toContain('Schedule "both": expected either cron or every, got both');
    expect(message).toContain('Schedule "fast": expected every to be a duration');
    expect(message).toContain('unknown option "jiter", did you mean "jitter"?');
  });

  it('rejects a method that is no handler, and a name that is used twice', async () => {
    class Reports {
      @Schedule('alone', { every: '1h' })
      alone() {}

      @QueueProcessor('a')
      @Schedule('same', { every: '1h' })
      a() {}

      @QueueProcessor('b')
      @Schedule('same', { every: '2h' })
      b() {}
    }

    const { message } = await startErrorOf({ imports: [queueModule()], providers: [Reports] });

    expect(message).toContain(
      'Reports.alone: expected @QueueProcessor() or @JobHandler() beside @Schedule(), got none',
    );
    expect(message).toContain('two schedules "same": Reports.a and Reports.b');
  });

  it.each([
    [{ cron: 'every day' }, 'expected cron to be a cron expression, got "every day"'],
    [{ cron: '* * * *' }, 'expected cron to be a cron expression, got "* * * *"'],
    [{ cron: '2020-01-01T03:00:00' }, 'expected cron to be a cron expression, got "2020-01-01T03:00:00"'],
    [{ cron: `${'1,'.repeat(99)}1 * * * *` }, 'expected cron to be a cron expression of at most 200 characters'],
    [{}, 'expected cron or every, got neither'],
    [{ every: '1h', tz: 'UTC' }, 'expected tz beside cron, got it beside every'],
    [{ every: '1h', missed: { all: 0 } }, `expected missed to be 'skip', 'once' or { all: 1 to 1000 }`],
    [{ every: '1h', overlap: 'queue' }, `expected overlap to be 'allow', 'skip' or 'one-waiting', got "queue"`],
    [{ every: '1h', options: { key: 'k' } }, 'unknown option "key"'],
    [{ every: '1h', payload: 1n }, 'Payload for queue "q"'],
  ])('and upsert() reject %o', async (given, problem) => {
    const { get } = await start({ providers: [] });

    const error = await get(QueueSchedules)
      .upsert('mine', { queue: 'q', ...given } as never)
      .catch((thrown: Error) => thrown);

    expect((error as Error).message).toContain(problem);
    expect(await get(QueueSchedules).list()).toEqual([]);
  });

  it('previews ticks without a database', async () => {
    const { get } = await start({ providers: [] });

    const ticks = get(QueueSchedules).preview(
      { cron: '30 2 * * *', tz: 'Europe/Berlin' },
      2,
      new Date('2026-03-28T12:00Z'),
    );

    expect(ticks).toEqual([new Date('2026-03-29T01:00Z'), new Date('2026-03-30T00:30Z')]);
    expect(() => get(QueueSchedules).preview({ every: '1h' }, 0)).toThrow('expected count to be a whole number');
  });
});
