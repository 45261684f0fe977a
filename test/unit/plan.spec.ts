import { resolveQueueOptions, type QueueOptions } from '../../lib/job/queue-options.js';
import { ActiveClaim, PrefetchBuffer } from '../../lib/worker/queue/active-claim.js';
import { plan, type PlanState } from '../../lib/worker/queue/plan.js';
import { claimRequest, claimedJob } from '../support/jobs.js';

const LEASE_MS = 30_000;
const POISON = { attempt: 3, lastError: { name: 'E', message: '', code: 'WORKER_LOST' } };

interface Given extends Partial<Omit<PlanState, 'options'>> {
  readonly options?: QueueOptions;
}

/** An open queue with ten free slots, no jobs, and an announcement of more. */
function stateOf({ options = {}, ...given }: Given = {}): PlanState {
  return {
    options: resolveQueueOptions({ prefetch: 0, ...options }),
    maxBatchSize: 1,
    isOpen: true,
    isResting: false,
    slots: { limit: 10, free: 10 },
    buffer: new PrefetchBuffer('fifo'),
    runs: { isIdle: true, isPoisonRunning: false, batchSizeOf: () => 1 },
    claims: { isAnnounced: true, mayBegin: true, expectedJobs: 0 },
    gate: { isLimited: false, opensAt: Infinity },
    averages: { runMs: undefined, payloadBytes: 100 },
    ...given,
  };
}

/** A buffer with the jobs of one claim, which was requested at time 0. */
function bufferOf(jobs: readonly object[], startLimit = jobs.length) {
  const claimed = jobs.map((job, index) => claimedJob({ id: index + 1, ...job }));
  const claim = new ActiveClaim(claimRequest({ startLimit, leaseMs: LEASE_MS }), claimed, 0);
  const buffer = new PrefetchBuffer('fifo');
  buffer.add(claimed.map((job, indexInClaim) => ({ claim, job, indexInClaim })));
  return buffer;
}

const jobs = (count: number, job = {}) => bufferOf(Array.from({ length: count }, () => job));
const claims = (given: Partial<PlanState['claims']>) => ({
  ...{ isAnnounced: true, mayBegin: true, expectedJobs: 0 },
  ...given,
});
const runs = (given: Partial<PlanState['runs']>) => ({
  ...{ isIdle: false, isPoisonRunning: false, batchSizeOf: () => 1 },
  ...given,
});

describe('the plan of a queue worker', () => {
  it('starts the next job of the buffer before it claims more', () => {
    expect(plan(stateOf({ buffer: jobs(3) }), 0)).toEqual({
      start: 1,
      awaits: undefined,
      claim: undefined,
      waitUntil: Infinity,
    });
  });

  it('claims one job for each free slot if the buffer is empty', () => {
    expect(plan(stateOf(), 0)).toMatchObject({ start: 0, claim: { limit: 10, startLimit: 10, slots: 10 } });
  });

  it('does nothing while the queue is closed', () => {
    const gate = { isLimited: true, opensAt: 500 };

    expect(plan(stateOf({ isOpen: false, buffer: jobs(1), gate }), 0)).toMatchObject({
      start: 0,
      claim: undefined,
      waitUntil: Infinity,
    });
  });

  it('waits until the limits or groups of the queue allow more jobs', () => {
    const gate = { isLimited: true, opensAt: 500 };

    expect(plan(stateOf({ gate, claims: claims({ isAnnounced: false }) }), 0)).toMatchObject({
      claim: undefined,
      waitUntil: 500,
    });
  });
});

describe('a plan to start jobs', () => {
  it('starts none without a free slot, and claims none if no job runs that could free one', () => {
    const slots = { limit: 10, free: 0 };

    expect(plan(stateOf({ slots, buffer: jobs(2) }), 0)).toMatchObject({ start: 0, claim: undefined });
  });

  it('waits for the renewal of a lease that has expired', () => {
    const state = stateOf({ buffer: jobs(2) });

    expect(plan(state, LEASE_MS - 1)).toMatchObject({ start: 1 });
    expect(plan(state, LEASE_MS)).toMatchObject({ start: 0, awaits: 'lease' });
  });

  it('waits for a higher start limit, and claims meanwhile', () => {
    const buffer = bufferOf([{}, {}], 0);

    expect(plan(stateOf({ buffer }), 0)).toMatchObject({ start: 0, awaits: 'start limit', claim: { limit: 8 } });
  });

  it('fills a batch with the jobs of one name', () => {
    const buffer = bufferOf([{ name: 'a' }, { name: 'a' }, { name: 'b' }, { name: 'a' }]);
    const batches = { maxBatchSize: 5, runs: runs({ batchSizeOf: (name) => (name === 'a' ? 5 : 1) }) };

    expect(plan(stateOf({ buffer, ...batches }), 0)).toMatchObject({ start: 2 });
  });

  it('ends a batch at the size of its handler, at the start limit, and before a poison candidate', () => {
    const batches = { maxBatchSize: 5, runs: runs({ batchSizeOf: () => 3 }) };

    expect(plan(stateOf({ buffer: jobs(5), ...batches }), 0).start).toBe(3);
    expect(plan(stateOf({ buffer: bufferOf([{}, {}, {}], 2), ...batches }), 0).start).toBe(2);
    expect(plan(stateOf({ buffer: bufferOf([{}, POISON], 2), ...batches }), 0).start).toBe(1);
  });

  it('starts a poison candidate alone', () => {
    const buffer = jobs(1, POISON);

    expect(plan(stateOf({ buffer, runs: runs({ isIdle: false }) }), 0)).toMatchObject({
      start: 0,
      awaits: 'other runs',
      claim: undefined,
    });
    expect(plan(stateOf({ buffer, runs: runs({ isIdle: true }) }), 0)).toMatchObject({ start: 1 });
  });

  it('starts and claims nothing beside a poison candidate', () => {
    const state = stateOf({ buffer: jobs(1), runs: runs({ isPoisonRunning: true }) });

    expect(plan(state, 0)).toMatchObject({ start: 0, awaits: undefined, claim: undefined });
  });
});

describe('a plan to claim jobs', () => {
  it.each<[string, Given]>([
    ['no job was announced', { claims: claims({ isAnnounced: false }) }],
    ['a claim chooses its jobs', { claims: claims({ mayBegin: false }) }],
    ['a rest of the queue is being stored', { isResting: true }],
    ['claims under way may fill all slots', { claims: claims({ expectedJobs: 10 }) }],
  ])('claims none while %s', (_, given) => {
    expect(plan(stateOf(given), 0).claim).toBeUndefined();
  });

  it('claims jobs for all slots of a batch', () => {
    expect(plan(stateOf({ maxBatchSize: 5 }), 0).claim).toEqual({ limit: 50, startLimit: 50, slots: 10 });
  });

  it('reserves no slot for jobs that only fill the buffer', () => {
    const state = stateOf({ options: { prefetch: 20 }, slots: { limit: 10, free: 0 }, runs: runs({}) });

    expect(plan(state, 0).claim).toEqual({ limit: 20, startLimit: 10, slots: 0 });
  });

  it('fills the buffer once half of it has started', () => {
    const full = { options: { prefetch: 20 }, slots: { limit: 10, free: 0 }, runs: runs({}) };

    expect(plan(stateOf({ ...full, buffer: jobs(11) }), 0).claim).toBeUndefined();
    expect(plan(stateOf({ ...full, buffer: jobs(10) }), 0).claim).toMatchObject({ limit: 10 });
  });

  it('claims for free slots only if the queue has limits', () => {
    const gate = { isLimited: true, opensAt: Infinity };

    expect(plan(stateOf({ gate, options: { prefetch: 20 } }), 0).claim).toMatchObject({ limit: 10 });
  });

  it('lets no job of a later claim start ahead if jobs have no spare attempt', () => {
    const later = { options: { retry: 2 }, claims: claims({ expectedJobs: 5 }) };

    expect(plan(stateOf(later), 0).claim).toEqual({ limit: 5, startLimit: 0, slots: 5 });
  });
});
