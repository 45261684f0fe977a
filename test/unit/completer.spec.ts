import { setImmediate } from 'node:timers/promises';
import { StoreUnavailableError } from '../../lib/job/errors.js';
import type { ClaimRequest } from '../../lib/store/rows/claim.js';
import type { Completion, CompletionBatch, CompletionResult } from '../../lib/store/rows/completion.js';
import type { JobStore } from '../../lib/store/verbs/job-store.js';
import { Completer } from '../../lib/worker/complete/completer.js';
import type { ActiveClaim } from '../../lib/worker/queue/active-claim.js';
import { gate } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';

const STORED: CompletionResult = { lost: new Set(), cancelled: new Set(), lostClaims: new Set() };

function claimOf(id: number): ActiveClaim {
  const progress = { id, startLimit: 1, isFinished: false };
  const claim = {
    id,
    startLimit: 1,
    progressAfter: () => progress,
    mayBeRescued: () => false,
    setStartLimit: () => {},
    markCompleting: () => {},
    markCommitted: () => {},
  };
  return claim as unknown as ActiveClaim;
}

function setup() {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const unavailable = new Set<number>();
  const complete = ({ completions }: CompletionBatch) =>
    completions.some(({ job }) => unavailable.has(job.id))
      ? Promise.reject(new StoreUnavailableError('locked', 'not-done'))
      : Promise.resolve(STORED);
  const logger = { log: () => {}, warn: (line: string) => void warnings.push(line), error: () => {}, debug: () => {} };
  const slow = new Set<number>();
  const { opened: encoded, open: encode } = gate();
  const prepareCompletion = ({ job }: Completion) => (slow.has(job.id) ? encoded : undefined);
  const batches: number[][] = [];
  const noting = async (batch: CompletionBatch) => {
    batches.push(batch.completions.map(({ job }) => job.id));
    return { ...(await complete(batch)), jobs: [] };
  };
  const store = { complete: noting, completeAndClaim: noting, prepareCompletion } as unknown as JobStore;
  const completer = new Completer(store, clock, logger, { startAheadLimit: () => 0, abandon: () => {} });
  const write = (id: number) =>
    new Promise((resolve) => {
      const completion = { job: { id }, outcome: { kind: 'release' } } as unknown as Completion;
      completer.complete(claimOf(id), completion, resolve);
    });
  const claim = () => completer.completeAndClaim({} as ClaimRequest);
  return { clock, warnings, unavailable, slow, encode, batches, write, claim };
}

describe('Completer', () => {
  it('logs once that outcomes wait, although other batches are stored meanwhile', async () => {
    const { clock, warnings, unavailable, write, claim } = setup();
    unavailable.add(1);

    const waiting = write(1);
    for (const pauseMs of [50, 100]) {
      await clock.untilSleeping(pauseMs);
      const stored = write(2);
      await claim();
      await stored;
      await clock.advance(pauseMs);
    }
    unavailable.clear();
    await clock.advance(200);
    await waiting;

    expect(warnings).toEqual(['Outcomes wait for the database: locked']);
  });

  it('logs again when outcomes wait once more', async () => {
    const { clock, warnings, unavailable, write } = setup();

    for (const id of [1, 2]) {
      unavailable.add(id);
      const waiting = write(id);
      await clock.untilSleeping(50);
      unavailable.clear();
      await clock.advance(50);
      await waiting;
      await setImmediate();
    }

    expect(warnings).toHaveLength(2);
  });

  it('keeps at most 1,000 outcomes in memory whose errors a slow codec encodes', async () => {
    const { slow, encode, batches, write, claim } = setup();
    const ids = Array.from({ length: 1_001 }, (_, index) => index + 1);
    for (const id of ids) slow.add(id);

    const written = ids.map(write);
    await claim();
    const first = batches[0];
    encode();
    await Promise.all(written);

    expect(first).toEqual([1_001]);
  });
});
