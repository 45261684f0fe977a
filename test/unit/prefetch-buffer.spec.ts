import type { ClaimedJob } from '../../lib/job/job.js';
import { PrefetchBuffer, type ActiveClaim, type BufferedJob } from '../../lib/worker/queue/active-claim.js';

describe('prefetched jobs', () => {
  it('start by priority and then by id, across claims', () => {
    const ahead = new PrefetchBuffer('fifo');

    ahead.add(claim({ id: 4 }, { id: 6 }, { id: 1, priority: 5 }));
    ahead.add(claim({ id: 9, priority: -1 }, { id: 3 }, { id: 5 }, { id: 7 }));

    expect(idsOf(ahead)).toEqual([9, 3, 4, 5, 6, 7, 1]);
  });

  it('start after the jobs of earlier claims in a queue of order lifo', () => {
    const ahead = new PrefetchBuffer('lifo');

    ahead.add(claim({ id: 6 }, { id: 4 }));
    ahead.add(claim({ id: 8 }, { id: 7 }));

    expect(idsOf(ahead)).toEqual([6, 4, 8, 7]);
  });

  it('keep the order of a claim with a poison candidate at its end, and never delay a buffered poison candidate', () => {
    const ahead = new PrefetchBuffer('fifo');
    const suspect = { attempt: 3, lastError: { name: 'WorkerLostError', message: 'lost', code: 'WORKER_LOST' } };

    ahead.add(claim({ id: 5 }, { id: 2, ...suspect }));
    ahead.add(claim({ id: 4 }, { id: 6 }, { id: 1, ...suspect }));
    ahead.add(claim({ id: 3 }));

    expect(idsOf(ahead)).toEqual([5, 2, 4, 6, 1, 3]);
  });
});

function claim(...jobs: (Partial<ClaimedJob> & { id: number })[]): BufferedJob[] {
  return jobs.map((job, index) => ({
    claim: {} as ActiveClaim,
    job: { priority: 0, attempt: 1, lastError: null, ...job } as ClaimedJob,
    indexInClaim: index,
  }));
}

function idsOf(ahead: PrefetchBuffer): number[] {
  return ahead.remove().map(({ job }) => job.id);
}
