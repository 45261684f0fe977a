import { signalHash } from '../../lib/job/signal.js';
import type { WaitFilter } from '../../lib/store/features/steps/step-store.js';
import { finalBatchOf } from '../support/jobs.js';
import { describeStoresOf } from '../support/stores.js';

const PAGE = { order: 'oldest', limit: 10 } as const;
const END = expect.any(Date);

describeStoresOf(['mysql', 'mariadb', 'sqlite'], 'the steps of a job', (setup) => {
  it('are listed by name, with values, ends of sleeps and waits, and keys of signals', async () => {
    const { steps, put, claim, advance } = await setup();
    const [jobId, otherId] = await put({}, {});
    const { id: claimId } = await claim({ limit: 2 });
    const owner = { jobId: jobId!, claimId };
    const wait = (name: string, timeoutMs: number) =>
      steps.waitForSignal(owner, name, { key: 'k', hash: signalHash(name, 'k') }, timeoutMs);
    const signal = (name: string, data: string | null) =>
      steps.signal({ name, key: 'k', hash: signalHash(name, 'k'), data });
    await steps.writeStep({ ...owner, jobId: otherId! }, 'other', '1');
    await signal('c-signal', '{"by":"ann"}');
    await signal('d-signal', null);
    await steps.writeStep(owner, 'b-nothing', null);
    await steps.writeStep(owner, 'a-value', '{"at":1}');
    await wait('c-signal', 1_000);
    await wait('d-signal', 1_000);
    await wait('e-late', 1_000);
    await steps.startSleep(owner, 'f-nap', { delayMs: 1_000 });
    await steps.startSleep(owner, 'g-sleep', { delayMs: 60_000 });
    await wait('h-wait', 60_000);
    advance(1_001);
    await wait('e-late', 1_000);

    const listed = await steps.list(jobId!, PAGE);

    expect(listed).toEqual([
      { name: 'a-value', state: 'done', value: { at: 1 }, until: null, signalKey: null },
      { name: 'b-nothing', state: 'done', value: null, until: null, signalKey: null },
      { name: 'c-signal', state: 'done', value: { by: 'ann' }, until: expect.anything(), signalKey: 'k' },
      { name: 'd-signal', state: 'done', value: null, until: expect.anything(), signalKey: 'k' },
      { name: 'e-late', state: 'timed-out', value: null, until: END, signalKey: 'k' },
      { name: 'f-nap', state: 'done', value: null, until: END, signalKey: null },
      { name: 'g-sleep', state: 'sleeping', value: null, until: END, signalKey: null },
      { name: 'h-wait', state: 'waiting', value: null, until: END, signalKey: 'k' },
    ]);
    const names = (await steps.list(jobId!, { order: 'newest', limit: 2, after: ['c-signal'] })).map(
      ({ name }) => name,
    );
    expect(names).toEqual(['b-nothing', 'a-value']);
    expect(await steps.list(jobId!, { ...PAGE, limit: 1, after: ['g-sleep'] })).toMatchObject([{ name: 'h-wait' }]);
    expect(await steps.list(jobId!, { order: 'newest', limit: 1 })).toMatchObject([{ name: 'h-wait' }]);
  });
});

describeStoresOf(['mysql', 'mariadb', 'sqlite'], 'the waits for signals', (setup) => {
  it('are listed by signal with the queue of their jobs, until a signal comes or the job is gone', async () => {
    const { steps, jobs, admin, put, claim } = await setup();
    const queues = ['a', 'a', 'b'];
    const ids = await put(...queues.map((queue) => ({ queue, name: `in ${queue}` })));
    const hash = signalHash('go', 'k');
    for (const queue of new Set(queues)) {
      const held = await claim({ queue, limit: 2 });
      for (const { id: jobId } of held.jobs) {
        const owner = { jobId, claimId: held.id };
        await steps.waitForSignal(owner, 'go', { key: 'k', hash }, 60_000);
        await steps.waitForSignal(owner, 'then', { key: `${jobId}`, hash: signalHash('then', `${jobId}`) }, 60_000);
      }
      await jobs.complete(finalBatchOf(held, { kind: 'snooze', delayMs: 60_000 }));
    }
    const list = async (filter: WaitFilter) =>
      (await steps.waits(PAGE, filter)).waits.map(({ jobId, name, key }) => `${jobId} ${name} ${key}`);

    const { waits, next } = await steps.waits({ order: 'oldest', limit: 2 }, { name: 'go' });
    const rest = await steps.waits({ order: 'oldest', limit: 2, after: next }, { name: 'go' });

    const common = { name: 'go', key: 'k', until: expect.any(Date) };
    expect(waits).toEqual([
      { ...common, jobId: ids[0], queue: 'a', jobName: 'in a' },
      { ...common, jobId: ids[1], queue: 'a', jobName: 'in a' },
    ]);
    expect(rest).toEqual({ waits: [{ ...common, jobId: ids[2], queue: 'b', jobName: 'in b' }] });
    expect(await list({ name: 'go', key: 'k', queue: 'b' })).toEqual([`${ids[2]} go k`]);
    expect(await list({ key: `${ids[1]}` })).toEqual([`${ids[1]} then ${ids[1]}`]);
    expect(await list({ name: 'go', key: 'other' })).toEqual([]);
    expect(await list({})).toHaveLength(6);
    await admin.remove([ids[0]!]);
    expect(await list({})).toHaveLength(4);
    await steps.signal({ name: 'go', key: 'k', hash, data: null });
    expect((await list({})).sort()).toEqual([`${ids[1]} then ${ids[1]}`, `${ids[2]} then ${ids[2]}`]);
    expect(await list({ name: 'go', key: 'k' })).toEqual([]);
  });

  it.each([
    [['a', 'a'], 'a'],
    [['a', 'b'], null],
    [[], null],
  ] as const)('give an audited signal for jobs in the queues %j the queue %s', async (queues, expected) => {
    const { steps, audit: entriesOf, put, claim } = await setup();
    await put(...queues.map((queue) => ({ queue })));
    const signal = { name: 'go', key: 'k', hash: signalHash('go', 'k'), data: null };
    for (const queue of queues) {
      const held = await claim({ queue });
      await steps.waitForSignal({ jobId: held.jobs[0]!.id, claimId: held.id }, 'go', signal, 60_000);
    }
    const audit = {
      id: 1,
      verb: 'signal',
      queue: undefined,
      by: 'ann',
      details: '{}',
      count: 0,
      queues: new Set<string>(),
    };

    await steps.signal(signal, { audit: { ...audit, verb: 'signal' } });

    const { entries } = await entriesOf.list({}, PAGE);
    expect(entries).toMatchObject([{ verb: 'signal', by: 'ann', queue: expected, count: 1 }]);
  });
});
