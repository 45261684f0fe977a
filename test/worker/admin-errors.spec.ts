import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { InvalidOptionsError, UnrecoverableError, type ErrorsOptions, type JobContext } from '../../lib/index.js';
import { aesGcm } from '../../lib/extras/codecs/aes-gcm.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/fake-clock.js';
import { describeEngines, plainJobs, type World } from '../support/engines.js';
import { columnsWith } from '../support/stored-text.js';

const SECRET = 'tell-no-one';

async function sumOf(world: World, table: 'metrics' | 'errors', column: string): Promise<number> {
  const [row] = await world.sql<{ n: number | null }>(`SELECT SUM(${column}) AS n FROM sql_queue_${table}`);
  return Number(row!.n ?? 0);
}

describeEngines('admin.errors', (setup) => {
  it('counts the failed attempts of all processes, those included that were retried', async () => {
    const world = await setup();
    const handlers = {
      q: (job: JobContext<string>) => {
        if (job.payload === 'dies') throw Object.assign(new Error('550 no mailbox'), { code: 'E550' });
        if (job.attempt === 1) throw new TypeError('x is not a function');
      },
      other: () => {
        throw new UnrecoverableError('never');
      },
    };
    const queues = { q: { retry: { attempts: 2, backoff: 0 } } };
    const engines = [await world.start({ handlers, queues }), await world.start({ handlers, queues })];
    const [{ producer, admin: ofWorker }] = engines as [(typeof engines)[0]];
    await producer.enqueueMany('q', [{ payload: 'works later' }, { payload: 'works later' }, { payload: 'dies' }]);
    const { id } = await producer.enqueue('other', 0, { name: 'push' });
    await eventually(async () => {
      const counts = await Promise.all(['q', 'other'].map((queue) => ofWorker.counts(queue)));
      return counts.reduce((sum, { completed, dead }) => sum + completed + dead, 0) === 4;
    });
    for (const { close } of engines) await close();

    const { admin } = await world.start({ autoStart: false });
    const errors = await admin.errors();

    expect(errors).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ queue: 'q', error: 'TypeError', failed: 2, dead: 0, message: 'x is not a function' }),
        expect.objectContaining({ queue: 'q', error: 'E550', failed: 2, dead: 1, message: '550 no mailbox' }),
        expect.objectContaining({ queue: 'other', failed: 1, dead: 1, jobId: id, jobName: 'push' }),
      ]),
    );
    expect(errors).toHaveLength(3);
    const [first] = errors;
    expect(first!.lastHour.reduce((sum, failed) => sum + failed, 0)).toBe(2);
    expect(first!.firstAt.getTime()).toBeLessThanOrEqual(first!.lastAt.getTime());
    expect(Math.abs((await world.now()) - first!.lastAt.getTime())).toBeLessThan(60_000);
    expect((await admin.errors({ queue: 'other' })).map(({ queue }) => queue)).toEqual(['other']);
    expect(await admin.errors({ limit: 1 })).toHaveLength(1);
    expect(await admin.errors({ to: new Date(Date.now() - 7_200_000) })).toEqual([]);
  });

  it('has no message of its own: an encrypted one is decoded, and an erased one is gone', async () => {
    const world = await setup();
    const codec = [aesGcm({ keys: [{ id: 'k', key: randomBytes(32) }] })];
    const worker = await world.start({
      codec,
      handlers: {
        q: () => {
          throw new RangeError(SECRET);
        },
      },
    });
    await worker.producer.enqueue('q', 0, { subject: 'user:1', retry: 1 });
    await worker.events.until('dead');
    await worker.close();
    const { admin } = await world.start({ codec, autoStart: false });

    const before = await admin.errors();
    const stored = await columnsWith(world, [SECRET]);
    await admin.erase('user:1');

    expect(before).toMatchObject([{ error: 'RangeError', message: SECRET }]);
    expect(stored).toEqual([]);
    expect(await admin.errors()).toMatchObject([{ error: 'RangeError', dead: 1, message: null }]);
  });

  it('costs a process without failures no write, and is saved after an outage', async () => {
    const world = await setup();
    const clock = new FakeClock();
    const handlers = {
      q: ({ payload }: JobContext<number>) => {
        if (payload > 0) throw new UnrecoverableError('no');
      },
    };
    const { producer, events, log } = await world.start({ clock, handlers });
    await world.sql('ALTER TABLE sql_queue_errors RENAME TO away');
    await producer.enqueueMany('q', plainJobs(1));
    await advanceUntil(clock, async () => (await sumOf(world, 'metrics', 'completed')) > 0);
    const completed = await sumOf(world, 'metrics', 'completed');
    await producer.enqueueMany(
      'q',
      Array.from({ length: 30 }, () => ({ payload: 1 })),
    );
    // The clock stands still until all have failed, so one minute has all of them.
    await events.untilCount(30, 'dead');
    await advanceUntil(clock, async () => (await sumOf(world, 'metrics', 'failed')) === 30, 10_000);
    const failures = () => log.filter((line) => line.startsWith('warn: Cannot save metrics'));
    // The errors follow the metrics, in a statement of their own.
    await eventually(() => failures().length > 0);
    // The errors of that save are kept while their table is away.
    for (let seconds = 0; seconds < 30; seconds += 10) {
      await clock.advance(10_000);
      await setTimeout(5);
    }
    expect(failures()).toHaveLength(1);

    await world.sql('ALTER TABLE away RENAME TO sql_queue_errors');
    await advanceUntil(clock, async () => (await sumOf(world, 'errors', 'failed')) === 30, 10_000);

    expect(completed).toBe(1);
    const rows = await world.sql<{ failed: number }>('SELECT failed FROM sql_queue_errors');
    expect(rows).toHaveLength(1);
  });

  it.each([
    ['an unknown option', { since: 1 }, 'unknown option "since"'],
    ['a text as a time', { from: '2030-01-01' }, 'expected from to be a valid Date'],
    ['a range that ends before it begins', { from: new Date(2), to: new Date(1) }, 'expected to to be after 1970'],
    ['a limit of a thousand', { limit: 1_000 }, 'expected limit to be a whole number from 1 to 200'],
    ['the name of no queue', { queue: 'a b' }, 'queue name'],
  ])('rejects %s', async (_, options, message) => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });

    const refused = admin.errors(options as ErrorsOptions);

    await expect(refused).rejects.toThrow(InvalidOptionsError);
    await expect(refused).rejects.toThrow(message);
  });
});

/** Advances the clock in steps until the condition holds. */
async function advanceUntil(clock: FakeClock, holds: () => boolean | Promise<boolean>, stepMs = 1_000): Promise<void> {
  while (!(await holds())) {
    await clock.advance(stepMs);
    await setTimeout(5);
  }
}
