import { randomBytes } from 'node:crypto';
import { aesGcm } from '../../lib/extras/codecs/aes-gcm.js';
import { fileBlobs } from '../../lib/extras/codecs/file-blobs.js';
import { compress } from '../../lib/extras/codecs/compress.js';
import { QueueSettings } from '../../lib/engine/queue-settings.js';
import { buildSchedule } from '../../lib/schedules/build-schedule.js';
import { systemClock } from '../../lib/common/clock.js';
import { resolveCodec } from '../../lib/job/codec/codec-options.js';
import { describeEngines, gate } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { columnsWith } from '../support/stored-text.js';
import { blobsFor } from '../support/test-blobs.js';

const SECRET = 'tell-no-one';
const LONG = SECRET.repeat(200);
const long = { text: LONG };
const first = { id: 'first', key: randomBytes(32) };
const second = { id: 'second', key: randomBytes(32) };
const RETENTION_MS = 31 * 86_400_000;

describeEngines('blobs', (setup) => {
  const open = async () => {
    const world = await setup();
    const files = await blobsFor(world);
    return { world, files, blobs: { store: files.store, over: '1kb' } as const };
  };

  it('hold the payloads and results over a size, and no others', async () => {
    const { world, files, blobs } = await open();
    const { producer, admin, events } = await world.start({ blobs, handlers: { q: (job) => job.payload } });

    const { id: shortId } = await producer.enqueue('q', { text: SECRET });
    await events.until('completed', { jobId: shortId });
    const before = await files.keys();
    const { id } = await producer.enqueue('q', long);
    const { result } = await events.until('completed', { jobId: id });

    expect(before).toEqual([]);
    expect(await files.texts()).toEqual([JSON.stringify(long), JSON.stringify(long)]);
    expect(await columnsWith(world, [LONG])).toEqual([]);
    expect(result).toEqual(long);
    expect(await admin.get(id)).toMatchObject({ payload: long, result: long });
    expect((await admin.find({ state: 'completed' })).jobs).toHaveLength(2);
    expect(await producer.waitFor(id)).toEqual(long);
  });

  it.each([
    ['is missing', '/absent/blobs', /got "\/absent\/blobs": ENOENT.*Create it, mount it/s],
    ['is no folder', '/dev/null', /got "\/dev\/null": it is no folder/],
  ])('let no process boot if their folder %s', async (_what, folder, message) => {
    const world = await setup();

    const started = world.start({ blobs: { store: fileBlobs({ folder }) } });

    await expect(started).rejects.toMatchObject({ code: 'INVALID_OPTIONS', message: expect.stringMatching(message) });
  });

  it('hold payloads that are longer than maxPayloadBytes', async () => {
    const { world, blobs } = await open();
    const { producer, events } = await world.start({
      blobs,
      defaults: { maxPayloadBytes: 1_500 },
      handlers: { q: (job) => job.payload },
    });

    const { id } = await producer.enqueue('q', long);

    expect(await events.until('completed', { jobId: id })).toMatchObject({ result: long });
  });

  it('are shared by retries, dead letters, replays and copies', async () => {
    const { world, files, blobs } = await open();
    let isBroken = true;
    const { producer, admin, events } = await world.start({
      blobs,
      queues: { q: { retry: 2, deadLetter: 'letters' } },
      handlers: {
        q: (job) => {
          if (isBroken) throw new Error('broken');
          return (job.payload as typeof long).text.length;
        },
        letters: (job) => (job.payload as typeof long).text.length,
      },
    });

    const { id } = await producer.enqueue('q', long);
    await events.until('completed', { queue: 'letters' });
    isBroken = false;
    await admin.retry([id]);
    await events.until('completed', { jobId: id });
    const copy = await admin.duplicate(id);

    expect(await events.until('completed', { jobId: copy! })).toMatchObject({ result: LONG.length });
    expect(events.of('completed', { queue: 'letters' })[0]).toMatchObject({ result: LONG.length });
    expect(await files.keys()).toHaveLength(1);
  });

  it('are compressed and encrypted, and follow a rotation of keys', async () => {
    const { world, files, blobs } = await open();
    const shorten = compress({ over: '1kb' });
    const old = await world.start({ blobs, codec: [shorten, aesGcm({ keys: [first] })], autoStart: false });
    const { id } = await old.producer.enqueue('q', long);
    await old.producer.enqueue('q', { text: SECRET });
    const compressed = await files.keys();
    const { id: longId } = await old.producer.enqueue('q', randomBytes(2_000).toString('hex'));
    const { admin } = await world.start({
      blobs,
      codec: [shorten, aesGcm({ keys: [second], older: [first] })],
      autoStart: false,
    });

    const planned = await admin.rekey({ dryRun: true });
    const between = await files.keys();
    const rekeyed = await admin.rekey();

    expect(compressed).toEqual([]);
    expect(between).toHaveLength(1);
    expect(planned).toEqual({ rekeyed: 3, active: 0, undecodable: 0 });
    expect(rekeyed).toEqual(planned);
    expect(await admin.rekey()).toEqual({ rekeyed: 0, active: 0, undecodable: 0 });
    expect((await files.texts()).filter((text) => text.includes(SECRET))).toEqual([]);
    const { events } = await world.start({
      blobs,
      codec: [shorten, aesGcm({ keys: [second] })],
      handlers: { q: (job) => job.payload },
    });
    expect(await events.until('completed', { jobId: id })).toMatchObject({ result: long });
    expect(await events.until('completed', { jobId: longId })).toMatchObject({ result: expect.any(String) as unknown });
  });

  it('never hold the payload of a schedule, which has no expiry', async () => {
    const { world, files, blobs } = await open();
    const codec = aesGcm({ keys: [first] });
    const settings = new QueueSettings({}, resolveCodec({ codec, blobs }, systemClock, console));
    const schedule = await buildSchedule(
      'nightly',
      { queue: 'q', name: 'default' },
      { every: '1d', payload: long },
      (queue) => settings.of(queue),
    );
    const { schedules, events } = await world.start({
      ...{ blobs, codec, declaredSchedules: [schedule], revision: '1' },
      handlers: { q: (job) => (job.payload as typeof long).text.length },
    });

    await schedules.upsert('daily', { queue: 'q', every: '1d', payload: long });
    await schedules.runNow('daily');
    await events.until('completed');
    const before = await files.keys();
    const rotated = await world.start({
      blobs,
      codec: aesGcm({ keys: [second], older: [first] }),
      autoStart: false,
    });
    await rotated.admin.rekey();

    expect(before).toEqual([]);
    expect(await columnsWith(world, ['$blob'])).toEqual(['history.payload']);
    expect(await rotated.schedules.get('daily')).toMatchObject({ payload: long });
  });

  it('pass the results of flows to other jobs, and results of people', async () => {
    const { world, files, blobs } = await open();
    const { producer, consumer, admin, events } = await world.start({
      blobs,
      handlers: {
        part: () => long,
        sum: async (job) => {
          const lengths: number[] = [];
          for await (const { result } of job.children()) lengths.push((result as typeof long).text.length);
          return lengths;
        },
      },
    });

    await producer.flow((flow) => void flow.add('sum', null).after(flow.add('part', null)));
    const { result } = await events.until('completed', { queue: 'sum' });
    await producer.enqueue('people', long);
    const [job] = await consumer.claim('people', { owner: 'ann' });
    await consumer.complete(job!.id, { owner: 'ann', result: long });

    expect(result).toEqual([LONG.length]);
    expect(job!.payload).toEqual(long);
    expect(await admin.get(job!.id)).toMatchObject({ result: long });
    expect(await files.keys()).toHaveLength(3);
    expect(await columnsWith(world, [LONG])).toEqual([]);
  });

  it('expire after the time at which their job is due', async () => {
    const { world, files, blobs } = await open();
    const { producer } = await world.start({ blobs: { ...blobs, keep: '60d' }, autoStart: false });
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const [soon, later] = [[day(60)], [day(160)]];

    await producer.enqueue('q', long);
    const [first] = await files.keys();
    await producer.enqueue('q', long, { delay: '100d' });
    await producer.enqueue('q', long, { runAt: new Date(Date.now() + 100 * 86_400_000) });
    // Midnight may have passed.
    soon.push(day(60));
    later.push(day(160));

    const days = (await files.keys()).map((key) => key.slice(0, 10));
    expect(soon).toContain(first!.slice(0, 10));
    expect(days.filter((each) => later.includes(each))).toHaveLength(2);
  });

  it('expire after the time at which their job is due if an administrator writes them', async () => {
    const { world, files, blobs } = await open();
    const keep = '60d';
    const { producer, admin } = await world.start({
      blobs: { ...blobs, keep },
      codec: aesGcm({ keys: [first] }),
      autoStart: false,
    });
    const rotated = await world.start({
      blobs: { ...blobs, keep },
      codec: aesGcm({ keys: [second], older: [first] }),
      autoStart: false,
    });
    const lastDay = () => new Date(Date.now() + 160 * 86_400_000).toISOString().slice(0, 10);
    const before = lastDay();

    const { id } = await producer.enqueue('q', long, { delay: '100d' });
    await admin.update(id, { payload: { text: `new ${LONG}` } });
    await admin.duplicate(id, { payload: long, delay: '100d' });
    await admin.duplicate(id, { payload: long, runAt: new Date(Date.now() + 100 * 86_400_000) });
    const { rekeyed } = await rotated.admin.rekey();

    // Midnight may have passed.
    const expected = [before, lastDay()];
    expect(rekeyed).toBe(3);
    expect(await files.keys()).toHaveLength(7);
    expect((await files.days()).filter((day) => !expected.includes(day))).toEqual([]);
  });

  it.each([
    ['delay', () => ({ delay: '100d' }) as const],
    ['runAt', () => ({ runAt: new Date(Date.now() + 100 * 86_400_000) })],
  ])('expire after the %s of their job if an administrator writes them while it is blocked', async (_what, due) => {
    const { world, files, blobs } = await open();
    const keep = '60d';
    const { producer, admin } = await world.start({
      ...{ blobs: { ...blobs, keep }, codec: aesGcm({ keys: [first] }), autoStart: false },
    });
    const rotated = await world.start({
      ...{ blobs: { ...blobs, keep }, codec: aesGcm({ keys: [second], older: [first] }), autoStart: false },
    });
    const lastDay = () => new Date(Date.now() + 160 * 86_400_000).toISOString().slice(0, 10);
    const before = lastDay();

    const { jobs } = await producer.flow((flow) => void flow.add('whole', long, due()).after(flow.add('part', null)));
    await admin.update(jobs.find(({ queue }) => queue === 'whole')!.id, { payload: { text: `new ${LONG}` } });
    await rotated.admin.rekey();

    // Midnight may have passed.
    const expected = [before, lastDay()];
    expect(await files.keys()).toHaveLength(3);
    expect((await files.days()).filter((day) => !expected.includes(day))).toEqual([]);
  });
});

describeEngines('an expired blob', (setup) => {
  const HUNDRED_DAYS_MS = 100 * 86_400_000;
  const clockOff = (ms: number) => ({ ...systemClock, now: () => new Date(Date.now() + ms) });
  const ORPHAN = '2020-01-02/4f0c1a3e-0000-4000-8000-000000000000';
  const open = async () => {
    const world = await setup();
    const files = await blobsFor(world);
    const put = () =>
      files.store.put(ORPHAN, Buffer.from('x'), { expires: new Date(), signal: AbortSignal.timeout(9_000) });
    return { world, files, put, blobs: { store: files.store, over: '1kb' } as const };
  };

  it('is deleted only if no row names it', async () => {
    const { world, files, blobs, put } = await open();
    const archive = { to: 'sql_queue_archive' };
    const { producer, admin, events, runner } = await world.start({
      blobs,
      archive,
      handlers: { q: (job) => job.payload, paused: (job) => job.payload },
    });
    runner.pause('paused');
    await producer.enqueue('q', long);
    await events.until('completed');
    world.advance(RETENTION_MS);
    await admin.prune();
    const { id } = await producer.enqueue('paused', long);
    await producer.flow((f) => {
      const first = f.add('q', long);
      f.add('paused', 'short', { after: [first] });
    });
    await events.untilCount(2, 'completed');
    // As if the blobs had expired long ago.
    for (const [table, columns] of Object.entries({
      jobs: ['payload'],
      history: ['payload', 'result'],
      archive: ['payload', 'result'],
      edges: ['result'],
    }))
      for (const column of columns)
        for (const day of await files.days())
          await world.sql(`UPDATE sql_queue_${table} SET ${column} = REPLACE(${column}, '${day}/', '2020-01-01/')`);
    await files.moveAll('2020-01-01');
    const needed = await files.keys();
    await put();

    const worker = await world.start({
      blobs,
      random: () => 0,
      archive,
      handlers: { paused: (job) => job.payload },
    });
    await eventually(async () => !(await files.keys()).includes(ORPHAN));
    await worker.events.until('completed', { jobId: id });

    expect(needed).toHaveLength(5);
    expect(await files.keys()).toEqual(expect.arrayContaining(needed));
    expect(await admin.get(id)).toMatchObject({ state: 'completed', result: long });
  });

  it('is judged by the clock of the database, not by that of a worker 100 days ahead', async () => {
    const { world, files, blobs, put } = await open();
    const { producer } = await world.start({ blobs, autoStart: false });
    const { id } = await producer.enqueue('q', long);
    const [key] = await files.keys();
    await put();

    const { runner, events } = await world.start({
      ...{ blobs, clock: clockOff(HUNDRED_DAYS_MS), random: () => 0 },
      handlers: { q: (job) => job.payload, other: () => 0 },
      autoStart: false,
    });
    runner.pause('q');
    await runner.start();
    await eventually(async () => !(await files.keys()).includes(ORPHAN));
    runner.resume('q');

    expect(await files.keys()).toContain(key);
    expect(await events.until('completed')).toMatchObject({ jobId: id, result: long });
  });
});

describeEngines(
  'a producer whose clock is 200 days behind',
  (setup) => {
    it('stores blobs that expire by the clock of the database', async () => {
      const world = await setup();
      const files = await blobsFor(world);
      const clock = { ...systemClock, now: () => new Date(Date.now() - 200 * 86_400_000) };
      const { producer } = await world.start({ clock, blobs: { store: files.store, over: '1kb' }, autoStart: false });

      await producer.enqueue('q', long);
      await producer.enqueue('q', long, { runAt: new Date(Date.now() - 200 * 86_400_000) });

      const days = (await files.keys()).map((key) => Date.parse(key.slice(0, 10)) - Date.now());
      expect(days.map((ms) => Math.round(ms / 86_400_000)).every((each) => each >= 89)).toBe(true);
    });
  },
  ['mysql', 'mariadb'],
);

describeEngines('a blob store that is down', (setup) => {
  const open = async () => {
    const world = await setup();
    const files = await blobsFor(world);
    return { world, files, blobs: { store: files.store, over: '1kb' } as const };
  };

  it('rejects an enqueue with a typed error, and nothing is stored', async () => {
    const { world, files, blobs } = await open();
    const { producer, admin } = await world.start({ blobs, autoStart: false });
    await files.takeAway();

    await expect(producer.enqueue('q', long)).rejects.toMatchObject({
      code: 'CONTENT_UNAVAILABLE',
      message: expect.stringMatching(/^The blob store cannot store a payload: ENOENT/) as unknown,
    });
    await expect(producer.enqueueMany('q', [{ payload: 1 }, { payload: long }])).rejects.toMatchObject({
      code: 'CONTENT_UNAVAILABLE',
    });
    await expect(
      world.dataSource.transaction((manager) => producer.enqueue('q', long, { manager })),
    ).rejects.toMatchObject({ code: 'CONTENT_UNAVAILABLE' });
    await producer.enqueue('q', 'short');

    expect(await admin.counts()).toMatchObject({ waiting: 1 });
  });

  it('delays jobs without a counted attempt, and loses none', async () => {
    const { world, files, blobs } = await open();
    const { producer, consumer, admin } = await world.start({ blobs, autoStart: false });
    const { ids } = await producer
      .enqueueMany('q', [{ payload: long }, { payload: long }, { payload: 'short' }])
      .then((jobs) => ({ ids: jobs.map(({ id }) => id) }));
    await producer.enqueue('people', long);
    const { runner, events, log } = await world.start({
      blobs,
      queues: { q: { retry: 1 } },
      handlers: { q: (job) => job.attempt },
      autoStart: false,
    });
    await files.takeAway();

    await runner.start();
    await events.until('completed', { jobId: ids[2]! });
    await events.untilCount(2, 'snoozed');
    await expect(consumer.claim('people', { owner: 'ann' })).rejects.toMatchObject({ code: 'CONTENT_UNAVAILABLE' });
    const listed = await admin.find({ queue: 'people' });
    await files.bringBack();
    world.advance(20_000);

    expect(listed.jobs[0]!.payload).toEqual({ $undecodable: expect.stringContaining('cannot read a blob') as unknown });
    expect((await events.untilCount(3, 'completed')).map(({ result }) => result)).toEqual([1, 1, 1]);
    expect(events.of('dead')).toEqual([]);
    expect(await consumer.claim('people', { owner: 'ann' })).toMatchObject([{ payload: long, attempt: 1 }]);
    expect(log.filter((line) => /^(warn|log): .*service of the codec/.test(line))).toEqual([
      expect.stringMatching(/^warn: Jobs wait for a service of the codec: The blob store cannot read a blob/),
      'log: The service of the codec works again',
    ]);
  });

  it('keeps results in their rows, if they fit', async () => {
    const { world, files, blobs } = await open();
    const { producer, admin, events, log } = await world.start({
      blobs,
      queues: { tight: { maxPayloadBytes: 2_000 } },
      handlers: { q: () => long, tight: () => long },
    });
    await files.takeAway();

    const { id } = await producer.enqueue('q', 0);
    const { id: tightId } = await producer.enqueue('tight', 0);
    await events.untilCount(2, 'completed');

    expect(await admin.get(id)).toMatchObject({ state: 'completed', result: long });
    expect(await admin.get(tightId)).toMatchObject({ state: 'completed', result: null });
    expect(log.filter((line) => line.startsWith('warn: Jobs wait'))).toHaveLength(1);
    expect(log).not.toContain('log: The service of the codec works again');
  });

  it('that has lost a blob makes its job dead, and the row stays', async () => {
    const { world, files, blobs } = await open();
    const { producer } = await world.start({ blobs, autoStart: false });
    const { id } = await producer.enqueue('q', long);
    const [key] = await files.keys();
    await files.store.delete!(key!, { signal: new AbortController().signal });

    const { events, admin } = await world.start({ blobs, handlers: { q: (job) => job.attempt } });

    expect(await events.until('dead', { jobId: id })).toMatchObject({ error: { code: 'UNDECODABLE_CONTENT' } });
    expect((await admin.get(id))!.payload).toEqual({
      $undecodable: expect.stringContaining(`${key} is gone`) as unknown,
    });
  });

  it('is named by a process without the option', async () => {
    const { world, blobs } = await open();
    const { producer } = await world.start({ blobs, autoStart: false });
    const { id } = await producer.enqueue('q', long);

    const { events } = await world.start({ handlers: { q: (job) => job.attempt } });

    expect((await events.until('dead', { jobId: id })).error!.message).toContain('Set the module option `blobs`');
  });
});

describeEngines('the erasure of a subject', (setup) => {
  const subject = { subject: 'user:7' };

  const open = async () => {
    const world = await setup();
    const files = await blobsFor(world);
    return { world, files, blobs: { store: files.store, over: '1kb' } as const };
  };

  it('deletes the blobs of its jobs, in the queues, the history and the archive', async () => {
    const { world, files, blobs } = await open();
    const { producer, admin, events } = await world.start({
      blobs,
      archive: { to: 'old_jobs' },
      defaults: { events: true },
      queues: { bad: { retry: 1, deadLetter: 'letters' } },
      handlers: { q: () => long, bad: () => Promise.reject(new Error('no')) },
    });
    await producer.enqueue('q', long, subject);
    await events.until('completed');
    world.advance(RETENTION_MS);
    await admin.prune();
    await producer.enqueue('q', long, subject);
    await producer.enqueue('bad', long, subject);
    await events.untilCount(2, 'completed');
    await events.until('dead');
    await producer.enqueue('q', long, { ...subject, delay: '1d' });
    const { id: other } = await producer.enqueue('other', long, { subject: 'user:8' });
    const before = await files.keys();

    const { erased } = await admin.erase('user:7', { limit: 1 });
    const rest = await admin.erase('user:7');

    expect(before).toHaveLength(7);
    expect([erased, rest]).toEqual([1, { erased: 4, active: 0 }]);
    expect(await files.keys()).toHaveLength(1);
    expect(await columnsWith(world, ['$blob'], ['old_jobs'])).toEqual(['jobs.payload', 'subjects.blobs']);
    expect(await admin.get(other)).toMatchObject({ payload: long });
    expect(await admin.erase('user:7')).toEqual({ erased: 0, active: 0 });
  });

  it('forgets no reference while the store is down, and goes on later', async () => {
    const { world, files, blobs } = await open();
    const { producer, admin } = await world.start({ blobs, autoStart: false });
    await producer.enqueueMany('q', [
      { payload: long, options: subject },
      { payload: 'short', options: subject },
    ]);
    await files.takeAway();

    await expect(admin.erase('user:7')).rejects.toMatchObject({ code: 'CONTENT_UNAVAILABLE' });
    const between = await columnsWith(world, ['$blob']);
    await files.bringBack();

    expect(between).toEqual(['jobs.payload', 'subjects.blobs']);
    expect(await admin.erase('user:7')).toEqual({ erased: 1, active: 0 });
    expect(await files.keys()).toEqual([]);
    expect(await admin.counts()).toMatchObject({ cancelled: 2 });
  });

  it('deletes a result that appears while it runs', async () => {
    const { world, files, blobs } = await open();
    const [running, go] = [gate(), gate()];
    const { producer, admin, events } = await world.start({
      blobs,
      handlers: {
        q: async () => {
          running.open();
          await go.opened;
          return long;
        },
      },
    });
    await producer.enqueue('q', long, subject);
    await running.opened;

    const during = await admin.erase('user:7');
    go.open();
    await Promise.race([events.until('completed'), events.until('cancelled')]);

    expect(during).toEqual({ erased: 0, active: 1 });
    expect(await admin.erase('user:7')).toEqual({ erased: 1, active: 0 });
    expect(await files.keys()).toEqual([]);
  });

  it('leaves blobs to their expiry if the store cannot delete, and rejects without the option', async () => {
    const { world, files, blobs } = await open();
    const { producer } = await world.start({ blobs, autoStart: false });
    await producer.enqueue('q', long, subject);
    const { put, get } = files.store;
    const store = { put: put.bind(files.store), get: get.bind(files.store) };
    const without = await world.start({ autoStart: false });
    const { admin } = await world.start({ blobs: { store }, autoStart: false });

    await expect(without.admin.erase('user:7')).rejects.toThrow(/expected the module option `blobs`, got none/);
    expect(await admin.erase('user:7')).toEqual({ erased: 1, active: 0 });

    expect(await files.keys()).toHaveLength(1);
    expect(await columnsWith(world, ['$blob'])).toEqual([]);
  });
});
