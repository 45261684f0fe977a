import { setImmediate } from 'node:timers/promises';
import { StoreUnavailableError } from '../../lib/job/errors.js';
import type { CompletionBatch, CompletionResult } from '../../lib/store/rows/completion.js';
import { CompletionWriter, type CompletionEntry } from '../../lib/worker/complete/completion-writer.js';
import type { ActiveClaim } from '../../lib/worker/queue/active-claim.js';
import { FakeClock } from '../support/fake-clock.js';

const STORED: CompletionResult = { lost: new Set(), cancelled: new Set(), lostClaims: new Set() };

function entryOf(id: number): CompletionEntry {
  const progress = { id, startLimit: 1, isFinished: false };
  const claim = {
    id,
    startLimit: 1,
    progressAfter: () => progress,
    mayBeRescued: () => false,
    setStartLimit: () => {},
    markCommitted: () => {},
  };
  const completion = { job: { id }, outcome: { kind: 'release' } };
  return { claim: claim as unknown as ActiveClaim, completion, onWritten: () => {} } as unknown as CompletionEntry;
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
  const { signal } = new AbortController();
  const writer = new CompletionWriter({ complete }, clock, logger, signal, {
    startAheadLimit: () => 0,
    abandon: () => {},
  });
  const write = (id: number) => writer.write({ entries: [entryOf(id)], mayHaveCommitted: false });
  return { clock, warnings, unavailable, write };
}

describe('CompletionWriter', () => {
  it('logs once that outcomes wait, although other batches are stored meanwhile', async () => {
    const { clock, warnings, unavailable, write } = setup();
    unavailable.add(1);

    const waiting = write(1);
    for (const pauseMs of [50, 100]) {
      await clock.untilSleeping(pauseMs);
      await write(2);
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
});
