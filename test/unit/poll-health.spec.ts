import { PollHealth } from '../../lib/worker/poll-health.js';
import { FakeClock } from '../support/fake-clock.js';

const silent = { log: () => {}, warn: () => {}, error: () => {}, debug: () => {} };

describe('the health of polls', () => {
  it('has the time of the last poll, even if the time of day was set meanwhile', async () => {
    const clock = new FakeClock();
    let setMs = 0;
    const health = new PollHealth(
      { monotonic: () => clock.monotonic(), now: () => new Date(clock.now().getTime() + setMs) },
      silent,
    );

    await health.observe(() => Promise.resolve());
    await clock.advance(5_000);
    setMs = 3_600_000;

    expect(health.read().lastPollAt).toEqual(new Date(clock.now().getTime() + setMs - 5_000));
  });

  it('has the start of an outage until a poll is answered', async () => {
    const clock = new FakeClock();
    const health = new PollHealth(clock, silent);
    const failedAt = clock.now();

    health.onFailure(new Error('away'));
    await clock.advance(5_000);
    health.onFailure(new Error('away'));
    const during = health.read();
    health.onAnswer();

    expect(during.databaseDownSince).toEqual(failedAt);
    expect(health.read().databaseDownSince).toBeNull();
  });

  it('knows that a poll is under way, and ends it if the poll fails', async () => {
    const health = new PollHealth(new FakeClock(), silent);
    let fail!: (error: Error) => void;

    const poll = health.observe(() => new Promise<void>((_, reject) => (fail = reject)));
    const during = health.read().isPolling;
    fail(new Error('away'));
    await expect(poll).rejects.toThrow('away');

    expect([during, health.read().isPolling]).toEqual([true, false]);
  });
});
