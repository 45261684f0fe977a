import { InvalidOptionsError } from '../../lib/job/errors.js';
import type { StatsOptions } from '../../lib/admin/read-stats.js';
import { describeEngines } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

describeEngines('admin.stats', (setup) => {
  it('has the queues by name, or one queue', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.flow((f) => f.add('b', 0, { after: f.add('a', 0) }));

    const all = await admin.stats();
    const [one] = await admin.stats({ queue: 'b' });

    expect(all.map(({ queue, waiting, blocked }) => [queue, waiting.value, blocked.value])).toEqual([
      ['a', 1, 0],
      ['b', 0, 1],
    ]);
    expect({ ...one, ageMs: 0 }).toEqual({ ...all[1], ageMs: 0 });
    expect(await admin.stats({ queue: 'unknown' })).toEqual([]);
  });

  it('takes one sample for all readers of all processes within its largest age', async () => {
    const world = await setup();
    const engines = [await world.start({ autoStart: false }), await world.start({ autoStart: false })];
    await engines[0]!.producer.enqueue('q', 0);

    const readers = Array.from({ length: 10 }, (_, n) => engines[n % 2]!.admin.stats({ maxAge: '1h' }));
    const times = (await Promise.all(readers)).map(([stats]) => stats!.sampledAt.getTime());
    const [later] = await engines[1]!.admin.stats({ maxAge: '1h' });

    expect(new Set([...times, later!.sampledAt.getTime()]).size).toBe(1);
  });

  it('takes another sample when the last one is older', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.enqueue('q', 0);
    const [before] = await admin.stats();
    await producer.enqueue('q', 0);
    await world.sql('UPDATE sql_queue_stats SET sampled_at = sampled_at - 5000, took_ms = 1');

    const [after] = await admin.stats();

    expect([before!.waiting.value, after!.waiting.value]).toEqual([1, 2]);
    expect(after!.sampledAt.getTime()).toBeGreaterThanOrEqual(before!.sampledAt.getTime());
  });

  it('pauses fifty times as long as a sample takes', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.enqueue('q', 0);
    await admin.stats();
    await producer.enqueue('q', 0);
    await world.sql('UPDATE sql_queue_stats SET sampled_at = sampled_at - 10000, took_ms = 60000');

    const [early] = await admin.stats({ maxAge: 0 });
    await world.sql('UPDATE sql_queue_stats SET took_ms = 100');
    const [late] = await admin.stats({ maxAge: 0 });

    expect([early!.waiting.value, late!.waiting.value]).toEqual([1, 2]);
    expect(early!.ageMs).toBeGreaterThanOrEqual(10_000);
    expect(late!.ageMs).toBe(0);
  });

  it('returns the last sample while another process takes the next one', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.enqueue('q', 0);
    const [before] = await admin.stats();
    await world.sql(
      `UPDATE sql_queue_stats SET sampled_at = sampled_at - 10000, lease_until = ${before!.sampledAt.getTime() + 25_000}`,
    );

    const [during] = await admin.stats();

    expect(during!.sampledAt.getTime()).toBe(before!.sampledAt.getTime() - 10_000);
  });

  it.each([
    ['a time that no number is exact for', `sampled_at = 9223372036854775807`],
    ['a negative time', `sampled_at = -1`],
    ['a duration of years', `took_ms = 9223372036854775807`],
    ['no list', `sample = '{"queue":"q"}'`],
    ['an entry that is no queue', `sample = '[null]'`],
    ['a queue without counts', `sample = '[{"queue":"q"}]'`],
  ])('replaces a sample that another program has damaged: %s', async (_, change) => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.enqueue('q', 0);
    await admin.stats();
    await producer.enqueue('q', 0);
    await world.sql(`UPDATE sql_queue_stats SET ${change}`);

    const [stats] = await admin.stats();

    expect(stats!.waiting.value).toBe(2);
  });

  it('shares one read among the calls of a process that wait for the sample of another one', async () => {
    const world = await setup();
    const { producer, admin, opened } = await world.start({ autoStart: false });
    await producer.enqueue('q', 0);
    await admin.stats();
    await world.sql('UPDATE sql_queue_stats SET lease_until = sampled_at + 25000, sampled_at = 0');
    const read = vi.spyOn(opened.stores.stats, 'read');

    const waiting = Array.from({ length: 20 }, () => admin.stats());
    await eventually(() => read.mock.calls.length > 2);
    const reads = read.mock.calls.length;
    await world.sql('UPDATE sql_queue_stats SET lease_until = 0');
    const answers = await Promise.all(waiting);

    expect(reads).toBeLessThan(20);
    expect(answers.map(([stats]) => stats!.waiting.value)).toEqual(Array.from({ length: 20 }, () => 1));
  });

  it('takes the first sample after the lease of a killed process', async () => {
    const world = await setup();
    const { producer, admin } = await world.start({ autoStart: false });
    await producer.enqueue('q', 0);
    const [sample] = await admin.stats();
    const leaseUntil = sample!.sampledAt.getTime() + 1_500;
    await world.sql(`UPDATE sql_queue_stats SET sample = NULL, sampled_at = 0, lease_until = ${leaseUntil}`);

    const [stats] = await admin.stats();

    expect(stats!.sampledAt.getTime()).toBeGreaterThanOrEqual(leaseUntil);
  });

  it.each([
    ['an unknown option', { age: 1 }, 'unknown option "age"'],
    ['an invalid queue', { queue: 'a b' }, 'expected queue to be'],
    ['an invalid age', { maxAge: 'soon' }, 'expected maxAge to be a duration'],
  ])('rejects %s', async (_, options, message) => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });

    const refused = admin.stats(options as StatsOptions);

    await expect(refused).rejects.toThrow(InvalidOptionsError);
    await expect(refused).rejects.toThrow(message);
  });
});
