import { Pace } from '../../lib/waiting/pace.js';
import { FakeClock } from '../support/fake-clock.js';

describe('how often a process looks for the jobs it waits for', () => {
  const setup = (jitter = 0) => {
    const clock = new FakeClock();
    return { clock, pace: new Pace(clock, () => jitter) };
  };

  it.each([1, 1_000, 20_000])('is five times in the first second and then once a second, for %i jobs', async (jobs) => {
    const { clock, pace } = setup();
    pace.begun();

    const rests: number[] = [];
    for (let n = 0; n < 8; n++) {
      rests.push(pace.rest(jobs));
      await clock.advance(rests.at(-1)!);
    }

    expect(rests).toEqual([50, 50, 100, 200, 400, 800, 1_000, 1_000]);
  });

  it('is less often where a look takes more statements than a few', () => {
    const { pace } = setup();

    expect(pace.rest(100_000)).toBe(4_000);
  });

  it('is often again where jobs have begun to end', async () => {
    const { clock, pace } = setup();
    await clock.advance(60_000);

    pace.looked('something');

    expect(pace.rest(1)).toBe(50);
  });

  it('is never in step with other processes', () => {
    expect(setup(1).pace.rest(1)).toBe(1.2 * setup(0).pace.rest(1));
  });

  it('is less and less often where it is rung in vain, and at once where it was not', async () => {
    const { clock, pace } = setup();
    const held = async () => {
      const before = clock.rests.length;
      const holding = pace.hold(1, new AbortController().signal);
      const [ms = 0] = clock.rests.slice(before);
      await clock.advance(ms);
      await holding;
      return ms;
    };

    const gaps = [await held()];
    for (const seen of ['nothing', 'nothing', 'nothing', 'nothing', 'nothing', 'as before'] as const) {
      pace.looked(seen);
      gaps.push(await held());
    }

    expect(gaps).toEqual([0, 10, 20, 40, 40, 40, 5]);
  });

  it('is at most every 80 ms where many jobs are waited for, however many of these end', async () => {
    const { clock, pace } = setup();

    pace.looked('something');
    const holding = pace.hold(1_000, new AbortController().signal);
    await clock.advance(80);
    await holding;

    expect(clock.rests).toEqual([80]);
    expect([pace.gap(20), pace.gap(21)]).toEqual([0, 80]);
  });
});
