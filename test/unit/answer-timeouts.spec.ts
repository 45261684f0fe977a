import { setImmediate } from 'node:timers/promises';
import { AnswerTimeouts } from '../../lib/store/databases/mysql/mysql-connections.js';
import { FakeClock } from '../support/fake-clock.js';

const LIMIT_MS = 30_000;

function setup() {
  const clock = new FakeClock();
  const watch = new AnswerTimeouts(clock, LIMIT_MS);
  const givenUp: string[] = [];
  const ask = (name: string) => watch.start(() => void givenUp.push(name));
  return { clock, watch, givenUp, ask };
}

describe('the timeout of database answers', () => {
  it('ends a wait when its time is over, and not before', async () => {
    const { clock, givenUp, ask } = setup();
    ask('a');

    await clock.advance(LIMIT_MS - 1);
    const early = [...givenUp];
    await clock.advance(1);

    expect(early).toEqual([]);
    expect(givenUp).toEqual(['a']);
  });

  it('never ends a wait that was answered in time', async () => {
    const { clock, givenUp, ask } = setup();
    const answered = ask('a');

    await clock.advance(LIMIT_MS - 1);
    answered();
    await clock.advance(10 * LIMIT_MS);

    expect(givenUp).toEqual([]);
  });

  it('gives each wait its full time, for any order of answers', async () => {
    const { clock, givenUp, ask } = setup();
    const a = ask('a');
    await clock.advance(10_000);
    ask('b');
    await clock.advance(10_000);
    const c = ask('c');
    ask('d');

    a();
    await clock.advance(19_999);
    const beforeB = [...givenUp];
    await clock.advance(1);
    const afterB = [...givenUp];
    c();
    await clock.advance(9_999);
    const beforeD = [...givenUp];
    await clock.advance(1);

    expect([beforeB, afterB, beforeD, givenUp]).toEqual([[], ['b'], ['b'], ['b', 'd']]);
  });

  it('ends all overdue waits when its timer fires late', async () => {
    const { clock, givenUp, ask } = setup();
    ask('a');
    await clock.advance(5_000);
    ask('b');

    await clock.advance(10 * LIMIT_MS);

    expect(givenUp).toEqual(['a', 'b']);
  });

  it('calls each callback once, even if the answer arrives later', async () => {
    const { clock, givenUp, ask } = setup();
    const late = ask('a');

    await clock.advance(LIMIT_MS);
    late();
    late();
    await clock.advance(10 * LIMIT_MS);

    expect(givenUp).toEqual(['a']);
  });

  it('uses one timer for any number of waits', async () => {
    const { clock, ask } = setup();
    for (let n = 0; n < 1_000; n++) ask(`${n}`)();
    const open = ask('open');
    for (let n = 0; n < 1_000; n++) ask(`${n}`)();
    await setImmediate();

    expect(clock.sleeps).toEqual([LIMIT_MS]);
    open();
  });

  it('starts again after a time without waits', async () => {
    const { clock, givenUp, ask } = setup();
    ask('a')();
    await clock.advance(3 * LIMIT_MS);
    ask('b');

    await clock.advance(LIMIT_MS);

    expect(givenUp).toEqual(['b']);
    expect(clock.sleeps).toEqual([LIMIT_MS, LIMIT_MS]);
  });

  it('accepts a wait that starts while another one ends', async () => {
    const clock = new FakeClock();
    const watch = new AnswerTimeouts(clock, LIMIT_MS);
    const givenUp: string[] = [];
    watch.start(() => {
      givenUp.push('a');
      watch.start(() => void givenUp.push('again'));
    });

    await clock.advance(LIMIT_MS);
    const first = [...givenUp];
    await clock.advance(LIMIT_MS);

    expect([first, givenUp]).toEqual([['a'], ['a', 'again']]);
  });

  it('ends all waits at once when it is stopped, and keeps no timer', async () => {
    const { clock, watch, givenUp, ask } = setup();
    ask('a');
    await clock.untilSleeping(LIMIT_MS);

    watch.stop();
    await setImmediate();
    ask('b');
    await clock.advance(10 * LIMIT_MS);

    expect(givenUp).toEqual(['a', 'b']);
    expect(clock.sleeps).toEqual([LIMIT_MS]);
    expect(clock.sleeperCount).toBe(0);
  });
});
