import { DatabaseClock } from '../../lib/common/clock.js';

function setup() {
  let now = 0;
  const clock = new DatabaseClock({ monotonic: () => now });
  return {
    clock,
    at: (ms: number) => void (now = ms),
    /** The database answers with a time that it read in the middle of the request. */
    learn: (requestedAt: number, answeredAt: number, aheadMs: number) => {
      now = answeredAt;
      clock.learn((requestedAt + answeredAt) / 2 + aheadMs, requestedAt);
    },
  };
}

describe('the clock of the database', () => {
  it('is unknown before its first time', () => {
    expect(setup().clock.at()).toBeUndefined();
  });

  it('goes on from the time of an answer', () => {
    const { clock, learn, at } = setup();
    learn(0, 10, 5_000);

    at(110);

    expect([clock.at(), clock.at(10)]).toEqual([5_110, 5_010]);
  });

  it('trusts the fastest answer of a minute', () => {
    const { clock, learn } = setup();
    learn(0, 2, 5_000);

    learn(1_000, 1_500, 5_200);
    const afterSlow = clock.at(0);
    learn(2_000, 2_001, 5_003);
    const afterFast = clock.at(0);

    expect([afterSlow, afterFast]).toEqual([5_000, 5_003]);
  });

  it('believes a slow answer if the last good one is older than a minute', () => {
    const { clock, learn } = setup();
    learn(0, 2, 5_000);

    learn(61_000, 61_500, -3_600_000);

    expect(clock.at(0)).toBe(-3_600_000);
  });
});
