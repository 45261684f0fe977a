import type { BullmqJob } from '../../lib/extras/cli/bullmq/bullmq-queue.js';
import { convertedJob, jobOptionsOf } from '../../lib/extras/cli/bullmq/converted-job.js';

const conversion = { queue: 'mails', names: new Map([['send mail', 'send-mail']]) };

function job(part: Partial<BullmqJob> = {}): BullmqJob {
  return {
    id: '7',
    name: 'welcome',
    data: { to: 'ada' },
    opts: {},
    timestamp: 1_000,
    attemptsMade: 0,
    ...part,
  } as BullmqJob;
}

describe('a job of BullMQ', () => {
  it('has one attempt and no delay between attempts unless its options say otherwise', () => {
    expect(convertedJob(job(), conversion)).toEqual({
      payload: { to: 'ada' },
      options: {
        ...{ name: 'welcome', priority: 0, headers: { 'bullmq.id': '7' } },
        ...{ key: 'bullmq:mails:7:1000', keyUntil: '7d' },
        retry: { attempts: 1, backoff: expect.objectContaining({ type: 'fixed', delay: 0, jitter: 0 }) },
      },
    });
  });

  it('keeps its remaining attempts, at least one, and goes on with its backoff', () => {
    const opts = { attempts: 5, backoff: { type: 'exponential', delay: 100, jitter: 0.5 } };

    expect(jobOptionsOf(opts, 2).retry).toMatchObject({ attempts: 3, backoff: { delay: 400, jitter: 0.5 } });
    expect(jobOptionsOf(opts, 9).retry).toMatchObject({ attempts: 1 });
    expect(jobOptionsOf({ backoff: 300 }, 0).retry).toMatchObject({ backoff: { type: 'fixed', delay: 300 } });
    expect(jobOptionsOf({ attempts: 2, backoff: { type: 'mine' } }, 0).retry).toEqual({ attempts: 2 });
  });

  it('has the lowest priority of this queue if its own is lower', () => {
    expect(jobOptionsOf({ priority: 2_097_152 }, 0).priority).toBe(32_767);
  });

  it('gets a name that it can have here', () => {
    const nameOf = (name: string) => convertedJob(job({ name }), conversion).options?.name;

    expect(['welcome', 'send mail', '__default__'].map(nameOf)).toEqual(['welcome', 'send-mail', 'default']);
  });

  it('has another key than a later job with its id, however long the id is', () => {
    const keyOf = (part: Partial<BullmqJob>) => convertedJob(job(part), conversion).options!.key!;
    const id = 'x'.repeat(300);

    const keys = [keyOf({}), keyOf({ timestamp: 2_000 }), keyOf({ id }), keyOf({ id, timestamp: 2_000 })];

    expect(new Set(keys).size).toBe(4);
    expect(Math.max(...keys.map((key) => key.length))).toBeLessThanOrEqual(255);
  });
});
