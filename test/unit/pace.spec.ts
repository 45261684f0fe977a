import { WaitPollSchedule } from '../../lib/listen/wait-poll-schedule.js';
import { FakeClock } from '../support/fake-clock.js';

describe('the poll schedule for awaited jobs', () => {
  const setup = (jitter = 0) => {
    const clock = new FakeClock();
    return { clock, pace: new WaitPollSchedule(clock, () => jitter) };
  };

  it.each([1, 1_000, 20_000])(
    'polls five times in the first second and then once a second, for %i jobs',
    async (jobs) => {
      const { clock, pace } = setup();
      pace.recordNewWait();

      const rests: number[] = [];
      for (let n = 0; n < 8; n++) {
        rests.push(pace.nextIntervalMs(jobs));
        await clock.advance(rests.at(-1)!);
      }

      expect(rests).toEqual([50, 50, 100, 200, 400, 800, 1_000, 1_000]);
    },
  );

  it('polls less often if a poll takes many statements', () => {
    const { pace } = setup();

    expect(pace.nextIntervalMs(100_000)).toBe(4_000);
  });

  it('polls often again when jobs have begun to end', async () => {
    const { clock, pace } = setup();
    await clock.advance(60_000);

    pace.recordPoll('something');

    expect(pace.nextIntervalMs(1)).toBe(50);
  });

  it('differs between processes by its jitter', () => {
    expect(setup(1).pace.nextIntervalMs(1)).toBe(1.2 * setup(0).pace.nextIntervalMs(1));
  });

  it('waits longer after each useless notification, and not after a useful one', async () => {
    const { clock, pace } = setup();
    const held = async () => {
      const before = clock.sleeps.length;
      const holding = pace.waitForGap(1, new AbortController().signal);
      const [ms = 0] = clock.sleeps.slice(before);
      await clock.advance(ms);
      await holding;
      return ms;
    };

    const gaps = [await held()];
    for (const seen of ['nothing', 'nothing', 'nothing', 'nothing', 'nothing', 'as before'] as const) {
      pace.recordPoll(seen);
      gaps.push(await held());
    }

    expect(gaps).toEqual([0, 10, 20, 40, 40, 40, 5]);
  });

  it('polls at most every 80 ms for many awaited jobs', async () => {
    const { clock, pace } = setup();

    pace.recordPoll('something');
    const holding = pace.waitForGap(1_000, new AbortController().signal);
    await clock.advance(80);
    await holding;

    expect(clock.sleeps).toEqual([80]);
    expect([pace.gapMs(20), pace.gapMs(21)]).toEqual([0, 80]);
  });
});
