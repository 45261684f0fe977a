import { signalHash } from '../../lib/job/signal.js';
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
