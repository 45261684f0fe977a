import { DuplicateKeyError } from '../../lib/job/errors.js';
import type { NewJob } from '../../lib/job/job.js';
import { KeyedEnqueueBatcher } from '../../lib/producer/job-inserter.js';
import type { KeyedCallResult } from '../../lib/store/features/keys/key-store.js';
import { FakeClock, advanceUntilDone } from '../support/fake-clock.js';
import { keyedJob } from '../support/keyed-job.js';

type Calls = readonly (readonly NewJob[])[];

/** Returns a batcher over a store that gives the test's answer. */
function setup(answer: (calls: Calls) => Promise<KeyedCallResult[]>) {
  const asked: number[] = [];
  const clock = new FakeClock();
  const store = {
    enqueueKeyed: (calls: Calls) => {
      asked.push(calls.length);
      return answer(calls);
    },
  };
  const group = new KeyedEnqueueBatcher(store, clock);
  return { clock, asked, enqueue: (key: string) => group.enqueue([keyedJob({ key })]) };
}

const placed = (id: number): KeyedCallResult => [{ id, name: 'default', outcome: 'created' }];
const keyOf = (call: readonly NewJob[]) => call[0]!.key!.text;

describe('concurrent calls with keys', () => {
  it('share a batch, and each receives its own answer', async () => {
    const refused = new DuplicateKeyError('q', 'b', 7, 'waiting');
    const { asked, enqueue } = setup((calls) =>
      Promise.resolve(calls.map((call) => (keyOf(call) === 'b' ? refused : placed(1)))),
    );

    const answers = await Promise.allSettled([enqueue('a'), enqueue('b'), enqueue('c')]);

    expect(asked).toEqual([3]);
    expect(answers).toEqual([
      { status: 'fulfilled', value: placed(1) },
      { status: 'rejected', reason: refused },
      { status: 'fulfilled', value: placed(1) },
    ]);
  });

  it('do not wait for a call whose key is locked, which is retried', async () => {
    let tries = 0;
    const { clock, enqueue } = setup((calls) =>
      Promise.resolve(calls.map((call) => (keyOf(call) === 'a' && ++tries < 3 ? 'locked' : placed(tries)))),
    );

    const locked = enqueue('a');
    await enqueue('b');
    expect(tries).toBe(1);

    expect(await advanceUntilDone(clock, locked)).toEqual(placed(3));
  });

  it('reject a call whose key stays locked', async () => {
    const { clock, enqueue } = setup((calls) => Promise.resolve(calls.map(() => 'locked')));

    const locked = enqueue('a').catch((error: unknown) => error);

    expect(await advanceUntilDone(clock, locked)).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      outcome: 'not-done',
      locked: true,
    });
  });

  it('are retried one by one if the database rejects one of them', async () => {
    const { asked, enqueue } = setup((calls) =>
      calls.some((call) => keyOf(call) === 'b')
        ? Promise.reject(new Error('no'))
        : Promise.resolve(calls.map(() => placed(1))),
    );

    const answers = await Promise.allSettled([enqueue('a'), enqueue('b')]);

    expect(asked).toEqual([2, 1, 1]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });
});
