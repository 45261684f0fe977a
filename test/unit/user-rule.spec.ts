import { resolveBackoff, type Backoff } from '../../lib/job/backoff.js';
import { outcomeAfterError } from '../../lib/job/outcome.js';
import { resolveQueueOptions, type QueueOptions } from '../../lib/job/queue-options.js';
import { FakeClock } from '../support/fake-clock.js';
import { claimedJob, ruleParts } from '../support/jobs.js';

const error = new Error('no');
const job = claimedJob();

function broken(answer: unknown): () => never {
  return (() => answer) as () => never;
}

const rejects = () => Promise.reject(new RangeError('a bug in the rule'));
const throws = () => {
  throw new RangeError('a bug in the rule');
};

function setup() {
  const log: string[] = [];
  const clock = new FakeClock();
  const parts = ruleParts({ clock, logger: { warn: (line) => void log.push(line) } });
  const outcome = async (retry: QueueOptions['retry']) =>
    (await outcomeAfterError(job, error, resolveQueueOptions({ retry }).retry, parts)) as {
      kind: string;
      delayMs?: number;
    };
  return { log, clock, parts, outcome };
}

describe('an async function in the options of a queue', () => {
  it('is awaited: retryIf', async () => {
    const { outcome, log } = setup();

    expect(await outcome({ retryIf: () => Promise.resolve(false) })).toMatchObject({ kind: 'dead' });
    expect(await outcome({ retryIf: () => Promise.resolve(true), backoff: 7 })).toMatchObject({ delayMs: 7 });
    expect(log).toEqual([]);
  });

  it('is awaited: backoff', async () => {
    const { outcome, log } = setup();

    expect(await outcome({ backoff: (attempt) => Promise.resolve(attempt * 70) })).toMatchObject({ delayMs: 70 });
    expect(await outcome({ backoff: () => Promise.resolve(false) })).toMatchObject({ kind: 'dead' });
    expect(log).toEqual([]);
  });

  it('is replaced by the default if it does not settle within 5 s', async () => {
    const { outcome, log, clock } = setup();
    const never = () => new Promise<false>(() => undefined);

    const outcomes = Promise.all([outcome({ retryIf: never, backoff: 7 }), outcome({ backoff: never })]);
    await clock.untilSleeping(5_000, 2);
    await clock.advance(5_000);

    expect(await outcomes).toMatchObject([{ delayMs: 7 }, { delayMs: 1_000 }]);
    expect(log).toEqual([
      expect.stringMatching(/`retryIf` has not answered within 5000 ms, expected true or false/),
      expect.stringMatching(/`backoff` has not answered within 5000 ms, expected .* or false/),
    ]);
  });

  it('keeps no timer after it has settled', async () => {
    const { outcome, clock } = setup();

    await outcome({ retryIf: () => Promise.resolve(true), backoff: () => Promise.resolve(7) });

    expect(clock.sleeperCount).toBe(0);
  });
});

describe('a failing function in the options of a queue', () => {
  it.each([
    ['throws', throws, /threw RangeError: a bug in the rule/],
    ['rejects', rejects, /rejected with RangeError: a bug in the rule/],
    ['returns an invalid value', broken('soon'), /answered "soon"/],
    ['returns undefined', broken(undefined), /answered undefined/],
    ['resolves to an invalid value', broken(Promise.resolve('soon')), /answered "soon"/],
  ])('is logged and replaced by the default if it %s', async (_how, rule, line) => {
    const { outcome, log, parts } = setup();

    expect(await outcome({ retryIf: rule, backoff: 7 })).toMatchObject({ delayMs: 7 });
    expect(await resolveBackoff(rule as Backoff)(job, error, parts)).toBe(1_000);

    expect(log).toEqual([expect.stringMatching(line), expect.stringMatching(line)]);
  });
});
