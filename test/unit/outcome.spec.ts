import { JobTimeoutError, UnrecoverableError, WorkerLostError } from '../../lib/job/errors.js';
import type { FailedJob } from '../../lib/job/failed-job.js';
import type { ClaimedJob } from '../../lib/job/job.js';
import {
  outcomeAfterError as outcomeOfError,
  outcomeAfterExpiredLease as outcomeOfSilence,
  inStartOrder,
  isPoisonCandidate,
  countStartable,
  type Outcome,
} from '../../lib/job/outcome.js';
import { resolveQueueOptions, type QueueOptions } from '../../lib/job/queue-options.js';
import { claimedJob, ruleParts } from '../support/jobs.js';

const middle = ruleParts();
const afterError = (...args: Parameters<typeof outcomeOfError>) => outcomeOfError(...args) as Outcome;
const afterSilence = (...args: Parameters<typeof outcomeOfSilence>) => outcomeOfSilence(...args) as Outcome;
const policy = (retry: QueueOptions['retry'] = {}) => resolveQueueOptions({ retry }).retry;
const tried = (attempt: number, given = {}) => claimedJob({ attempt, ...given });

function claimed(id: number, attempt: number, code?: string): ClaimedJob {
  const lastError = code ? { name: 'E', message: '', code } : null;
  return { id, attempt, lastError } as ClaimedJob;
}

describe('a job whose handler threw', () => {
  it('is retried after the backoff', () => {
    const outcome = afterError(tried(2), new JobTimeoutError(1, 'q', 5), policy(), middle);

    expect(outcome).toMatchObject({ kind: 'retry', delayMs: 2_000, error: { code: 'JOB_TIMEOUT' } });
  });

  it('is dead after its last attempt', () => {
    expect(afterError(tried(3), new Error('no'), policy(), middle)).toMatchObject({ kind: 'dead' });
    expect(afterError(tried(4), new Error('no'), policy(), middle)).toMatchObject({ kind: 'dead' });
  });

  it('is dead at once if the error is unrecoverable', () => {
    expect(afterError(tried(1), new UnrecoverableError('no'), policy(), middle)).toMatchObject({ kind: 'dead' });
    expect(afterError(tried(1), { message: 'of another copy', code: 'UNRECOVERABLE' }, policy(), middle).kind).toBe(
      'dead',
    );
  });

  it('is dead at once if retryIf or the backoff returns false', () => {
    const first = { retryIf: (error: Error, attempt: number) => error.message === 'try' && attempt < 2 };

    expect(afterError(tried(1), new Error('try'), policy(first), middle).kind).toBe('retry');
    expect(afterError(tried(2), new Error('try'), policy(first), middle).kind).toBe('dead');
    expect(afterError(tried(1), new Error('no'), policy({ backoff: () => false }), middle).kind).toBe('dead');
  });

  it('is retried if retryIf itself throws', () => {
    const retryIf = () => {
      throw new Error('a bug in the rule');
    };

    expect(afterError(tried(1), new Error('no'), policy({ retryIf }), middle)).toMatchObject({ kind: 'retry' });
  });

  it('is shown to retryIf and to a backoff function with its payload and headers', () => {
    const seen: unknown[] = [];
    const see = (job: FailedJob) => void seen.push(job);
    const job = tried(2, { payload: '{"to":"ada"}', headers: '{"region":"eu"}', createdAtMs: 7 });

    afterError(
      job,
      new Error('no'),
      policy({
        retryIf: (_error, _attempt, failed) => !see(failed),
        backoff: (_attempt, _error, failed) => (see(failed), 5),
      }),
      middle,
    );
    afterSilence(
      job,
      { workerId: 'w', owner: null },
      true,
      policy({ backoff: (_attempt, _error, failed) => (see(failed), 5) }),
      middle,
    );

    const failed = { id: 1, queue: 'q', name: 'default', priority: 0, attempt: 2, maxAttempts: 3 };
    const expected = { ...failed, payload: { to: 'ada' }, headers: { region: 'eu' }, createdAt: new Date(7) };
    expect(seen).toEqual([expected, expected, expected]);
  });

  it('reaches a backoff function also with a payload and headers that are no JSON', () => {
    const job = tried(1, { payload: '{', headers: '[' });
    const backoff = (_attempt: number, _error: Error, { payload, headers }: FailedJob) =>
      payload === undefined && Object.keys(headers).length === 0 ? 9 : 0;

    expect(afterError(job, new Error('no'), policy({ backoff }), middle)).toMatchObject({ delayMs: 9 });
  });

  it('uses its own backoff before the backoff of its queue', () => {
    const job = tried(1, { overrides: { backoff: '7s' } });

    expect(afterError(job, new Error('no'), policy({ backoff: '1m' }), middle)).toMatchObject({ delayMs: 7_000 });
  });

  it('is retried for any thrown value', () => {
    for (const thrown of ['text', undefined, null, 7, Symbol('s'), {}]) {
      expect(afterError(tried(1), thrown, policy(), middle).kind).toBe('retry');
    }
  });
});

describe('a job of a lost worker', () => {
  const WORKER = { workerId: 'w', owner: null };

  it('is released if it cannot have started', () => {
    expect(afterSilence(tried(3), WORKER, false, policy(), middle)).toEqual({ kind: 'release' });
  });

  it('is retried at once the first time', () => {
    const outcome = afterSilence(tried(1), WORKER, true, policy(), middle);

    expect(outcome).toMatchObject({ kind: 'retry', delayMs: 0, error: { code: 'WORKER_LOST' } });
  });

  it('is retried after the backoff from the second time on', () => {
    expect(afterSilence(tried(2), WORKER, true, policy(), middle)).toMatchObject({ kind: 'retry', delayMs: 2_000 });
  });

  it('is dead after its last attempt, or if the backoff returns false', () => {
    expect(afterSilence(tried(3), WORKER, true, policy(), middle).kind).toBe('dead');
    expect(afterSilence(tried(2), WORKER, true, policy({ backoff: () => false }), middle).kind).toBe('dead');
  });
});

describe('a job of a claim holder with an expired lease', () => {
  it('names the claim holder in its error', () => {
    const error = (owner: string) => afterSilence(tried(3), { workerId: 'w', owner }, true, policy(), middle);

    expect(error('ann')).toMatchObject({ error: { code: 'LEASE_EXPIRED', message: expect.stringContaining('"ann"') } });
    expect(error('')).toMatchObject({ error: { code: 'LEASE_EXPIRED', message: expect.stringContaining('token') } });
  });
});

describe('a poison candidate', () => {
  const { code } = new WorkerLostError('w');

  it('lost its worker in a later attempt than the first', () => {
    expect(isPoisonCandidate(claimed(1, 3, code))).toBe(true);
    expect(isPoisonCandidate(claimed(1, 2, code))).toBe(false);
    expect(isPoisonCandidate(claimed(1, 3, 'OTHER'))).toBe(false);
    expect(isPoisonCandidate(claimed(1, 3))).toBe(false);
  });

  it('starts after all other jobs, which keep their order', () => {
    const jobs = [claimed(1, 3, code), claimed(2, 1), claimed(3, 3, code), claimed(4, 1)];

    expect(inStartOrder(jobs).map(({ id }) => id)).toEqual([2, 4, 1, 3]);
  });

  it('starts alone', () => {
    const suspect = claimed(1, 3, code);
    const other = claimed(2, 1);

    expect(
      [
        [other, other],
        [other, other, suspect],
        [suspect, suspect],
      ].map((jobs) => countStartable(jobs.map(isPoisonCandidate))),
    ).toEqual([2, 2, 1]);
  });
});
