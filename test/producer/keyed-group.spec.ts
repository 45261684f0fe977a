import { DuplicateKeyError } from '../../lib/job/errors.js';
import type { NewJob } from '../../lib/job/job.js';
import { KeyedGroup } from '../../lib/producer/keyed-group.js';
import type { KeyedAnswer } from '../../lib/store/key-store.js';
import { FakeClock, hurry } from '../support/fake-clock.js';
import { keyed } from '../support/keyed.js';

type Calls = readonly (readonly NewJob[])[];

/** A group over a store that answers what the test says. */
function setup(answer: (calls: Calls) => Promise<KeyedAnswer[]>) {
  const asked: number[] = [];
  const clock = new FakeClock();
  const store = {
    enqueueKeyed: (calls: Calls) => {
      asked.push(calls.length);
      return answer(calls);
    },
  };
  const group = new KeyedGroup(store, clock);
  return { clock, asked, enqueue: (key: string) => group.enqueue([keyed({ key })]) };
}

const placed = (id: number): KeyedAnswer => [{ id, name: 'default', outcome: 'created' }];
const keyOf = (call: readonly NewJob[]) => call[0]!.key!.text;

describe('calls with keys that come together', () => {
  it('go together, and each gets its own answer', async () => {
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

  it('do not wait for one whose key is locked, which is tried again', async () => {
    let tries = 0;
    const { clock, enqueue } = setup((calls) =>
      Promise.resolve(calls.map((call) => (keyOf(call) === 'a' && ++tries < 3 ? 'locked' : placed(tries)))),
    );

    const locked = enqueue('a');
    await enqueue('b');
    expect(tries).toBe(1);

    expect(await hurry(clock, locked)).toEqual(placed(3));
  });

  it('give up one whose key stays locked', async () => {
    const { clock, enqueue } = setup((calls) => Promise.resolve(calls.map(() => 'locked')));

    const locked = enqueue('a').catch((error: unknown) => error);

    expect(await hurry(clock, locked)).toMatchObject({ code: 'STORE_UNAVAILABLE', outcome: 'not-done', locked: true });
  });

  it('are told apart where the database refuses one of them', async () => {
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
