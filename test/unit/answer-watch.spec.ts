import { setImmediate } from 'node:timers/promises';
import { AnswerWatch } from '../../lib/store/dialects/answer-watch.js';
import { FakeClock } from '../support/fake-clock.js';

const LIMIT_MS = 30_000;

function setup() {
  const clock = new FakeClock();
  const watch = new AnswerWatch(clock, LIMIT_MS);
  const givenUp: string[] = [];
  const ask = (name: string) => watch.begin(() => void givenUp.push(name));
  return { clock, watch, givenUp, ask };
}

describe('the watch over answers', () => {
  it('gives a wait up when its time is over, and not before', async () => {
    const { clock, givenUp, ask } = setup();
    ask('a');

    await clock.advance(LIMIT_MS - 1);
    const early = [...givenUp];
    await clock.advance(1);

    expect(early).toEqual([]);
    expect(givenUp).toEqual(['a']);
  });

  it('never gives up what was answered in time', async () => {
    const { clock, givenUp, ask } = setup();
    const answered = ask('a');

    await clock.advance(LIMIT_MS - 1);
    answered();
    await clock.advance(10 * LIMIT_MS);

    expect(givenUp).toEqual([]);
  });

  it('gives each its full time, in whatever order they are answered', async () => {
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

  it('gives all up that are overdue when it comes to look late', async () => {
    const { clock, givenUp, ask } = setup();
    ask('a');
    await clock.advance(5_000);
    ask('b');

    await clock.advance(10 * LIMIT_MS);

    expect(givenUp).toEqual(['a', 'b']);
  });

  it('calls nobody twice, also where the answer comes after all', async () => {
    const { clock, givenUp, ask } = setup();
    const late = ask('a');

    await clock.advance(LIMIT_MS);
    late();
    late();
    await clock.advance(10 * LIMIT_MS);

    expect(givenUp).toEqual(['a']);
  });

  it('has one timer for them all, however many come and are answered', async () => {
    const { clock, ask } = setup();
    for (let n = 0; n < 1_000; n++) ask(`${n}`)();
    const open = ask('open');
    for (let n = 0; n < 1_000; n++) ask(`${n}`)();
    await setImmediate();

    expect(clock.rests).toEqual([LIMIT_MS]);
    open();
  });

  it('begins anew after a time without waits', async () => {
    const { clock, givenUp, ask } = setup();
    ask('a')();
    await clock.advance(3 * LIMIT_MS);
    ask('b');

    await clock.advance(LIMIT_MS);

    expect(givenUp).toEqual(['b']);
    expect(clock.rests).toEqual([LIMIT_MS, LIMIT_MS]);
  });

  it('takes a wait that begins while another is given up', async () => {
    const clock = new FakeClock();
    const watch = new AnswerWatch(clock, LIMIT_MS);
    const givenUp: string[] = [];
    watch.begin(() => {
      givenUp.push('a');
      watch.begin(() => void givenUp.push('again'));
    });

    await clock.advance(LIMIT_MS);
    const first = [...givenUp];
    await clock.advance(LIMIT_MS);

    expect([first, givenUp]).toEqual([['a'], ['a', 'again']]);
  });

  it('that is stopped gives up all waits at once, and has no timer any more that keeps the process alive', async () => {
    const { clock, watch, givenUp, ask } = setup();
    ask('a');
    await clock.resting(LIMIT_MS);

    watch.stop();
    await setImmediate();
    ask('b');
    await clock.advance(10 * LIMIT_MS);

    expect(givenUp).toEqual(['a', 'b']);
    expect(clock.rests).toEqual([LIMIT_MS]);
    expect(clock.sleepers).toBe(0);
  });
});
