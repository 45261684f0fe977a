import { tableNames } from '../../lib/store/tables/table-names.js';
import { describeEngines, gate } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { columnsWith } from '../support/stored-text.js';

const SUBJECT = 'user:ada-lovelace';
const NAME = 'ada-lovelace';
const ARCHIVE = { to: 'old_jobs' };
const subject = { subject: SUBJECT };

describeEngines('the erasure of a subject', (setup) => {
  it('leaves no byte of the content of its jobs in any table', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({
      archive: ARCHIVE,
      defaults: { events: true },
      queues: { bad: { retry: 1, deadLetter: 'letters' }, retried: { retry: { attempts: 2, backoff: '1h' } } },
      handlers: {
        q: async (job) => {
          job.progress(NAME);
          job.log(NAME);
          await job.step('step', () => NAME);
          return NAME;
        },
        bad: () => Promise.reject(new Error(NAME)),
        retried: () => Promise.reject(new Error(NAME)),
        part: () => NAME,
        parent: async (job) => {
          await job.fanOut('part', [NAME]);
          return job.waitFor('signal', { key: SUBJECT });
        },
      },
    });
    const payload = { name: NAME };
    const options = { ...subject, headers: { name: NAME } };
    // In the archive.
    await producer.enqueue('q', payload, options);
    await events.until('completed');
    world.advance(31 * 86_400_000);
    await admin.prune();
    expect(await world.sql('SELECT id FROM old_jobs')).toHaveLength(1);
    // Dead, with a dead letter and a copy; to be retried; completed with a key; in a flow; waiting for a signal; scheduled.
    const { id } = await producer.enqueue('bad', payload, options);
    await events.until('dead');
    await producer.enqueue('retried', payload, options);
    await producer.enqueue('q', payload, { ...options, key: NAME });
    await producer.enqueue('parent', payload, options);
    await producer.flow((flow) => {
      const first = flow.add('part', payload, options);
      flow.add('never', payload, { ...options, after: first });
    });
    await producer.enqueue('q', payload, { ...options, delay: '1d' });
    await events.untilCount(2, 'failed');
    await events.untilCount(4, 'completed');
    await events.until('snoozed', { queue: 'parent' });
    await admin.duplicate(id, { delay: '1d' });
    await producer.signal('signal', SUBJECT, payload);
    await producer.enqueue('other', { name: 'grace' }, { subject: 'user:grace' });
    await eventually(async () => (await admin.counts()).active === 0);

    const planned = await admin.erase(SUBJECT, { dryRun: true });
    const before = await columnsWith(world, [NAME], ['old_jobs']);
    let erasure = await admin.erase(SUBJECT);
    let erased = erasure.erased;
    while (erasure.active > 0) {
      erasure = await admin.erase(SUBJECT);
      erased += erasure.erased;
    }

    expect(before).toEqual(
      expect.arrayContaining(
        ['jobs.payload', 'jobs.headers', 'jobs.options', 'jobs.error', 'history.payload', 'history.result']
          .concat(['history.error', 'history.headers', 'history.options', 'old_jobs.payload', 'old_jobs.result'])
          .concat(['progress.value', 'logs.line', 'steps.result', 'edges.result', 'events.result', 'events.error'])
          .concat(['signals.data', 'subjects.subject']),
      ),
    );
    expect(await columnsWith(world, [NAME], ['old_jobs'])).toEqual([]);
    expect(erased).toBe(planned.erased);
    expect(await admin.erase(SUBJECT)).toEqual({ erased: 0, active: 0 });
    expect(await admin.get(id)).toMatchObject({ state: 'dead', payload: null, headers: {}, error: null });
    expect(await columnsWith(world, ['grace'])).toEqual(['jobs.options', 'jobs.payload', 'subjects.subject']);
  });

  it('cancels a running job, and erases its content after its end', async () => {
    const world = await setup();
    const running = gate();
    const { producer, admin, events } = await world.start({
      handlers: {
        q: async (job) => {
          running.open();
          await new Promise((resolve) => job.signal.addEventListener('abort', resolve));
          throw new Error(NAME);
        },
      },
    });
    const { id } = await producer.enqueue('q', NAME, subject);
    await running.opened;

    expect(await admin.erase(SUBJECT)).toEqual({ erased: 0, active: 1 });
    await events.until('cancelled', { jobId: id });
    expect(await admin.erase(SUBJECT)).toEqual({ erased: 1, active: 0 });

    expect(await columnsWith(world, [NAME])).toEqual([]);
  });

  it('works in batches, and goes on after an interruption', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.enqueueMany(
      'q',
      Array.from({ length: 120 }, () => ({ payload: NAME, options: subject })),
    );
    const stop = new AbortController();

    await expect(admin.erase(SUBJECT, { onProgress: () => stop.abort(), signal: stop.signal })).rejects.toThrow(
      /abort/,
    );
    expect(await admin.erase(SUBJECT, { limit: 10 })).toEqual({ erased: 10, active: 0 });
    expect(await admin.erase(SUBJECT)).toEqual({ erased: 60, active: 0 });

    expect(await columnsWith(world, [NAME])).toEqual([]);
    expect(await admin.counts()).toMatchObject({ cancelled: 120, waiting: 0 });
  });

  it('covers replaced jobs, jobs of a transaction, and fan-out children', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({
      handlers: { parent: (job) => job.fanOut('part', [NAME]) },
    });
    await producer.enqueue('q', 'first', { key: 'k' });
    await producer.enqueue('q', NAME, { key: 'k', onConflict: 'replace', ...subject });
    await world.dataSource.transaction((manager) => producer.enqueue('q', NAME, { ...subject, manager }));
    await producer.enqueue('parent', 0, subject);
    await events.until('blocked');
    await eventually(async () => (await admin.counts()).active === 0);

    expect(await admin.erase(SUBJECT)).toEqual({ erased: 4, active: 0 });
    expect(await columnsWith(world, [NAME])).toEqual([]);
  });

  it('costs other jobs no row, and forgets the jobs that are gone', async () => {
    const world = await setup();
    const { producer, admin, events } = await world.start({ handlers: { q: () => undefined } });
    const subjects = () => world.sql(`SELECT subject FROM ${tableNames().subjects}`);

    await producer.enqueue('q', 0);
    await producer.enqueue('q', 0, { headers: { a: '1' }, delay: '1d' });
    expect(await subjects()).toEqual([]);
    const { id } = await producer.enqueue('q', 0, subject);
    await events.until('completed', { jobId: id });
    expect(await subjects()).toHaveLength(1);
    await admin.remove([id]);

    expect(await admin.erase(SUBJECT)).toEqual({ erased: 0, active: 0 });
    expect(await subjects()).toEqual([]);
  });

  it.each(['', 'a '.padEnd(256, 'b'), 'space '])('rejects the subject %j', async (invalid) => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });

    await expect(admin.erase(invalid)).rejects.toThrow(/expected the subject to be a text of 1 to 255 characters/);
    await expect(producer.enqueue('q', 0, { subject: invalid })).rejects.toThrow(/expected subject to be a text/);
  });
});
