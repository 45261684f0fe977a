import { describeEngines, gate } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';

describeEngines('an attempt', (setup) => {
  it.each([
    ['of its queue', '5s', undefined],
    ['of its job', '1h', '5s'],
  ] as const)(
    'has its signal aborted and fails after the timeout %s, and the job is retried',
    async (_, timeout, own) => {
      const world = await setup();
      const clock = new FakeClock();
      const { opened } = gate();
      const signals: AbortSignal[] = [];
      const { producer, events, admin } = await world.start({
        clock,
        queues: { q: { timeout, retry: { attempts: 2, backoff: 0 } } },
        handlers: {
          q: ({ signal, attempt }) => {
            signals.push(signal);
            return attempt === 1 ? opened : 'in time';
          },
        },
      });
      const { id } = await producer.enqueue('q', 0, own ? { timeout: own } : {});
      await events.until('started');

      await clock.untilSleeping(5_000);
      await clock.advance(4_999);
      const early = signals[0]!.aborted;
      await clock.advance(1);
      const failed = await events.until('failed');
      await events.until('completed');

      expect(early).toBe(false);
      expect(signals[0]!.reason).toMatchObject({ code: 'JOB_TIMEOUT', timeoutMs: 5_000 });
      expect(failed).toMatchObject({ jobId: id, attempt: 1, error: { code: 'JOB_TIMEOUT' } });
      expect(await admin.get(id)).toMatchObject({ state: 'completed', attempt: 2, result: 'in time' });
      expect(signals[1]!.aborted).toBe(false);
    },
  );
});
