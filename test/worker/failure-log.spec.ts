import { UnrecoverableError } from '../../lib/job/errors.js';
import type { QueueOptions } from '../../lib/job/queue-options.js';
import { describeEngines, gate, plainJobs } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

const LEASE_MS = 30_000;

class MailError extends Error {
  override readonly name = 'MailError';
}

const fails = () => {
  throw new MailError('no SMTP');
};

describeEngines('the log of a queue', (setup) => {
  const about = (log: readonly string[]) => log.filter((line) => line.includes('Job '));

  it('has a warning per failed run and an error per dead job, and never the payload', async () => {
    const world = await setup();
    const { producer, events, log } = await world.start({
      queues: { q: { retry: { attempts: 2, backoff: (attempt) => attempt * 1_500 } } },
      handlers: { q: { welcome: fails } },
    });

    const { id } = await producer.enqueue('q', { secret: 'hunter2' }, { name: 'welcome' });
    await events.until('failed');
    world.advance(1_500);
    await events.until('dead');

    expect(about(log)).toEqual([
      `warn: Job ${id} "welcome" of queue "q" failed in attempt 1 of 2, to be retried in 1.5 s: MailError: no SMTP`,
      `error: Job ${id} "welcome" of queue "q" is dead after attempt 2 of 2: MailError: no SMTP`,
    ]);
    expect(log.filter((line) => line.startsWith('debug: MailError: no SMTP\n'))).toHaveLength(1);
    expect(log.join('\n')).not.toContain('hunter2');
  });

  it('reports an immediate retry, and a job that died with attempts remaining', async () => {
    const world = await setup();
    const { producer, events, log } = await world.start({
      queues: { q: { retry: { attempts: 3, backoff: 0 } } },
      handlers: {
        q: ({ attempt }) => {
          throw attempt === 1 ? new Error('try') : new UnrecoverableError('give up');
        },
      },
    });

    const { id } = await producer.enqueue('q', 0);
    await events.until('dead');

    expect(about(log)).toEqual([
      `warn: Job ${id} "default" of queue "q" failed in attempt 1 of 3, to be retried at once: Error: try`,
      `error: Job ${id} "default" of queue "q" is dead after attempt 2 of 3: UnrecoverableError: give up`,
    ]);
  });

  it('reports an exceeded timeout', async () => {
    const world = await setup();
    const { producer, events, log } = await world.start({
      queues: { q: { retry: 1, timeout: '20ms' } },
      handlers: { q: () => gate().opened },
    });

    await producer.enqueue('q', 0);
    await events.until('dead');

    expect(about(log)).toEqual([expect.stringMatching(/^error: .* is dead after attempt 1 of 1: JobTimeoutError: /)]);
  });

  it('reports a job that died because the lease of its claim holder expired', async () => {
    const world = await setup();
    const { producer, consumer, events, log, runner } = await world.start({
      autoStart: false,
      queues: { q: { retry: 1 } },
      handlers: { q: () => undefined },
    });
    const { id } = await producer.enqueue('q', 0);
    await consumer.claim('q', { owner: 'ann', lease: LEASE_MS });

    world.advance(LEASE_MS);
    await runner.start();
    await events.until('dead');

    expect(about(log)).toEqual([
      expect.stringContaining(
        `error: Job ${id} "default" of queue "q" is dead after attempt 1 of 1: LeaseExpiredError: `,
      ),
    ]);
  });

  it('says at the start of a stop how many jobs are running, and which limit they have', async () => {
    const world = await setup();
    const [started, go] = [gate(), gate()];
    const { producer, runner, log } = await world.start({
      handlers: {
        q: async () => {
          started.open();
          await go.opened;
        },
      },
    });
    const lines = () => log.filter((line) => line.includes('Stopping'));
    await producer.enqueue('q', 0);
    await started.opened;

    const stopped = runner.stop({ timeout: '90s' });
    await eventually(() => lines().length > 0);
    go.open();
    await stopped;
    await runner.start();
    await runner.stop();

    expect(lines()).toEqual(['log: Stopping within 90 s: 1 job is running.']);
  });

  it('reports a job that a claim holder failed', async () => {
    const world = await setup();
    const { producer, consumer, log } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);
    await consumer.claim('q', { owner: 'ann' });

    await consumer.fail(id, { owner: 'ann', error: 'blurred', retry: false });

    expect(about(log)).toEqual([
      `error: Job ${id} "default" of queue "q" is dead after attempt 1 of 3: Error: blurred`,
    ]);
  });

  it('reports no jobs that complete, or that are released, snoozed or cancelled', async () => {
    const world = await setup();
    const { producer, events, log, admin } = await world.start({
      handlers: {
        q: (job) => {
          if (job.payload === 'release' && job.attempt === 1 && events.of('released').length === 0) job.release();
          if (job.payload === 'snooze') job.snooze('1h');
          return 'done';
        },
      },
    });

    await producer.enqueue('q', 'release');
    await producer.enqueue('q', 'snooze');
    const { id } = await producer.enqueue('q', 'cancel', { delay: '1h' });
    await admin.cancel(id);
    await events.until('completed');
    await events.until('snoozed');

    expect(about(log)).toEqual([]);
  });

  it.each<[string, QueueOptions, () => unknown]>([
    ['failures', { retry: 2 }, fails],
    ['results that could not be stored', {}, () => 1n],
  ])('reports no %s with `logFailures: false`', async (_what, options, handler) => {
    const world = await setup();
    const { producer, runner, log } = await world.start({
      queues: { q: { ...options, logFailures: false } },
      handlers: { q: handler },
    });

    await producer.enqueueMany('q', plainJobs(3));
    await runner.whenIdle();

    expect(about(log)).toEqual([]);
  });
});
