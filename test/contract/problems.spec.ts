import { LEASE_MS, claimFrom, finalBatchOf, newJob, rescueRules } from '../support/jobs.js';
import { metricsRow } from '../support/metrics.js';
import { newSchedule } from '../support/schedules.js';
import { describeStoresOf } from '../support/stores.js';

const MINUTE_MS = 60_000;
const NO_SUSPECTS = { unserved: [], paused: [], disabled: [], behind: [] };

describeStoresOf(['mysql', 'mariadb', 'sqlite'], 'the facts about problems', (setup) => {
  it('are claims that no worker rescues, workers without a heartbeat, and attempts of queues with failures', async () => {
    const { admin, metrics, workers, put, claim, advance } = await setup();
    await put({});
    await workers.register({ id: 'gone', host: 'h', pid: 7, queues: new Map([['q', 1]]) });
    advance(3_600_000 - LEASE_MS);
    await claim();
    await workers.register({ id: 'silent', host: 'h', pid: 7, queues: new Map([['q', 1]]) });
    advance(LEASE_MS + MINUTE_MS + 1);
    await workers.register({ id: 'here', host: 'h', pid: 7, queues: new Map([['q', 1]]) });
    const at = await metrics.readTime();
    const row = (queue: string, minutesAgo: number, counts: object) =>
      metricsRow({ queue, startsAtMs: at - (at % MINUTE_MS) - minutesAgo * MINUTE_MS, ...counts });
    await metrics.save([
      ...[
        row('fails', 1, { failed: 2, completed: 1 }),
        row('fails', 50, { stepMs: MINUTE_MS, recorder: 0, failed: 9 }),
      ],
      ...[row('fails', 61, { stepMs: MINUTE_MS, recorder: 0, failed: 8 }), row('failed', 20, { failed: 7 })],
      row('works', 1, { completed: 5 }),
    ]);

    const facts = await admin.problemFacts(NO_SUSPECTS);

    expect(facts.lapsedClaims).toEqual([{ queue: 'q', claims: 1, lapsedMs: expect.any(Number) }]);
    expect(facts.silentWorkers).toEqual([{ id: 'silent', host: 'h', pid: 7, seenAtMs: expect.any(Number) }]);
    expect([...facts.minutes.keys()]).toEqual(['fails']);
    expect(facts.minutes.get('fails')!.map(({ completed, failed }) => ({ completed, failed }))).toEqual(
      expect.arrayContaining([
        { completed: 1, failed: 2 },
        { completed: 0, failed: 9 },
      ]),
    );
    expect(facts.minutes.get('fails')).toHaveLength(2);
    expect(facts.nowMs).toBeGreaterThanOrEqual(at);
  });

  it('are no claim of which a rescue leaves a job that still runs, while its worker lives', async () => {
    const { admin, jobs, workers, put, claim, advance } = await setup();
    const [running] = await put({}, {});
    const { workerId } = await claim({ limit: 2 });
    await workers.register({ id: workerId, host: 'h', pid: 7, queues: new Map([['q', 1]]) });
    advance(LEASE_MS);
    await jobs.rescue(rescueRules({ isRunning: (_, id) => id === running }));

    const rescued = (await admin.problemFacts(NO_SUSPECTS)).lapsedClaims;
    advance(9 * MINUTE_MS);
    await workers.markSeen(workerId);
    const later = (await admin.problemFacts(NO_SUSPECTS)).lapsedClaims;
    advance(2 * MINUTE_MS);
    const [silent] = (await admin.problemFacts(NO_SUSPECTS)).lapsedClaims;

    expect([rescued, later]).toEqual([[], []]);
    expect(silent).toMatchObject({ queue: 'q', claims: 1 });
    expect(Math.floor(silent!.lapsedMs / MINUTE_MS)).toBe(2);
  });

  it('are no claim of a person while no worker runs, because the next claim of a person rescues the job', async () => {
    const { admin, consumer, workers, put, advance } = await setup();
    const worker = { host: 'h', pid: 7, queues: new Map([['other', 1]]) };
    await workers.register({ ...worker, id: 'crashed' });
    const take = async (queue: string, workerId: string, owner: string) => {
      const [id] = await put({ queue });
      await consumer.assign(id!, { workerId, owner, leaseMs: 1_000 }, 'anyone', () => ({ maxAttempts: 5 }));
    };
    await take('review', 'program', 'ann');
    await take('handed-off', 'crashed', '');
    advance(2 * MINUTE_MS);
    const queues = async () => (await admin.problemFacts(NO_SUSPECTS)).lapsedClaims.map(({ queue }) => queue);

    const withoutWorker = await queues();
    await workers.register({ ...worker, id: 'here' });
    const withWorker = await queues();

    expect(withoutWorker).toEqual(['handed-off']);
    expect(withWorker).toEqual(['handed-off', 'review']);
  });

  it('are the last pause of a paused queue, the groups at rest of one that is behind, and its attempts', async () => {
    const { admin, groups, metrics, advance } = await setup();
    const entry = { id: 1, queue: 'p', details: '{"which":"p"}', count: 0, queues: new Set<string>() };
    await admin.setPaused(['p'], true, { audit: { ...entry, verb: 'pause', by: 'ann' } });
    advance(1);
    await admin.setPaused(['p'], false, { audit: { ...entry, id: 2, verb: 'resume', by: 'bob' } });
    const disabled = { ...entry, id: 3, details: '{"which":"p","options":{"enabled":false}}' };
    await admin.configure('p', { enabled: false }, { audit: { ...disabled, verb: 'configure', by: 'carl' } });
    await groups.setPaused('late', 'a', true);
    await groups.setPaused('late', 'b', true);
    await groups.setPaused('other', 'a', true);
    await metrics.save([metricsRow({ queue: 'late', startsAtMs: await metrics.readTime(), completed: 5 })]);

    const facts = await admin.problemFacts({ ...NO_SUSPECTS, paused: ['p', 'unknown'], behind: ['late'] });
    const { pauses } = await admin.problemFacts({ ...NO_SUSPECTS, disabled: ['p', 'unknown'] });

    expect(facts.pauses.get('p')).toEqual({ since: expect.any(Date), by: 'ann' });
    expect(facts.pauses.get('unknown')).toEqual({ since: null, by: null });
    expect(pauses.get('p')).toEqual({ since: expect.any(Date), by: 'carl' });
    expect(pauses.get('unknown')).toEqual({ since: null, by: null });
    expect([...facts.groups]).toEqual([
      ['late', { blocked: { count: 0, first: null }, paused: { count: 2, first: 'a' } }],
    ]);
    expect(facts.minutes.get('late')).toMatchObject([{ completed: 5 }]);
  });

  it('are schedules that are late by more than a minute, for each queue', async () => {
    const { admin, schedules, advance, metrics } = await setup();
    const everyMinute = (name: string, queue = 'q') =>
      newSchedule({ name, everyMs: MINUTE_MS, job: newJob({ queue, payload: '{}' }) });
    const untilMs = (await metrics.readTime()) + 1;
    for (const name of ['a', 'b', 'paused']) await schedules.upsert(everyMinute(name));
    await schedules.upsert({ ...everyMinute('ended'), untilMs });
    await schedules.setPaused('paused', true);
    await schedules.declare([everyMinute('code', 'other')], '1');
    await schedules.upsert({ ...everyMinute('hourly'), everyMs: 60 * MINUTE_MS * 24 * 365 });
    const [dueAtMs] = (await schedules.list()).map(({ nextAt }) => nextAt?.getTime());
    const before = (await admin.problemFacts(NO_SUSPECTS)).lateSchedules;

    advance(3 * MINUTE_MS);
    const { lateSchedules } = await admin.problemFacts(NO_SUSPECTS);
    const listed = (await schedules.list()).map(({ name, isLate }) => [name, isLate]);
    const got = (await schedules.get('a'))!.isLate;
    await schedules.runTicks(['code']);
    const after = (await admin.problemFacts(NO_SUSPECTS)).lateSchedules;

    expect(before).toEqual([]);
    expect(lateSchedules).toEqual(
      expect.arrayContaining([
        { queue: 'q', count: 2, fromApi: 2, firstName: 'a', dueAtMs },
        { queue: 'other', count: 1, fromApi: 0, firstName: 'code', dueAtMs: expect.any(Number) },
      ]),
    );
    expect(lateSchedules).toHaveLength(2);
    expect(Object.fromEntries(listed)).toEqual({
      ...{ a: true, b: true, code: true },
      ...{ ended: false, hourly: false, paused: false },
    });
    expect(got).toBe(true);
    expect(after).toEqual([]);
  });

  it('tell queues of people from those that lack a worker', async () => {
    const { admin, jobs, put } = await setup();
    await put({ queue: 'people' }, { queue: 'new' });
    await jobs.complete(finalBatchOf(await claimFrom(jobs, { queue: 'people' })));

    const { consumed } = await admin.problemFacts({ ...NO_SUSPECTS, unserved: ['people', 'new'] });

    expect([...consumed]).toEqual(['people']);
  });

  it('tell them apart after claims of people, which add their queue, and after workers that are gone', async () => {
    const { admin, jobs, workers, put } = await setup();
    const queues = ['people', 'started', 'added'];
    await jobs.chooseStrategies(new Map(queues.map((queue) => [queue, 'auto'])));
    const worker = { id: 'w', host: 'h', pid: 7, queues: new Map([['started', 1]]) };
    await workers.register(worker);
    await workers.setQueues('w', new Map([...worker.queues, ['added', 1]]));
    await workers.deregister('w');
    for (const queue of queues) {
      await put({ queue }, { queue });
      await jobs.complete(finalBatchOf(await claimFrom(jobs, { queue })));
    }

    const { consumed } = await admin.problemFacts({ ...NO_SUSPECTS, unserved: queues });

    expect([...consumed]).toEqual(['people']);
  });

  it('do not call a queue unserved whose jobs people or other programs have taken, and have not ended', async () => {
    const { admin, consumer, workers, put, advance } = await setup();
    await workers.register({
      id: 'crashed',
      host: 'h',
      pid: 7,
      queues: new Map([
        ['handed-off', 1],
        ['people', 1],
        ['lapsed', 1],
      ]),
    });
    advance(2 * MINUTE_MS);
    const take = async (queue: string, workerId: string, leaseMs: number | null) => {
      const [id] = await put({ queue }, { queue });
      await consumer.assign(id!, { workerId, owner: '', leaseMs }, 'anyone', () => ({ maxAttempts: 5 }));
    };
    await take('people', 'program', null);
    await take('programs', 'program', LEASE_MS);
    await take('handed-off', 'crashed', null);
    await take('lapsed', 'program', 1_000);
    advance(2_000);
    await put({ queue: 'new' });

    const unserved = ['people', 'programs', 'handed-off', 'lapsed', 'new'];
    const { consumed } = await admin.problemFacts({ ...NO_SUSPECTS, unserved });

    expect([...consumed].sort()).toEqual(['people', 'programs']);
  });
});
