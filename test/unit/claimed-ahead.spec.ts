import type { ClaimedJob } from '../../lib/job/job.js';
import { ClaimedAhead, type Place } from '../../lib/runtime/claimed-ahead.js';
import type { HeldClaim } from '../../lib/runtime/held-claim.js';

describe('the jobs that a worker has claimed ahead', () => {
  it('begin by priority and then by id, whichever claim came first', () => {
    const ahead = new ClaimedAhead('fifo');

    ahead.add(claim({ id: 4 }, { id: 6 }, { id: 1, priority: 5 }));
    ahead.add(claim({ id: 9, priority: -1 }, { id: 3 }, { id: 5 }, { id: 7 }));

    expect(idsOf(ahead)).toEqual([9, 3, 4, 5, 6, 7, 1]);
  });

  it('begin after those of the claims before them in a queue of order lifo', () => {
    const ahead = new ClaimedAhead('lifo');

    ahead.add(claim({ id: 6 }, { id: 4 }));
    ahead.add(claim({ id: 8 }, { id: 7 }));

    expect(idsOf(ahead)).toEqual([6, 4, 8, 7]);
  });

  it('keep the order within their claim, where a suspect is the last one, and never delay a suspect that is here', () => {
    const ahead = new ClaimedAhead('fifo');
    const suspect = { attempt: 3, lastError: { name: 'WorkerLostError', message: 'lost', code: 'WORKER_LOST' } };

    ahead.add(claim({ id: 5 }, { id: 2, ...suspect }));
    ahead.add(claim({ id: 4 }, { id: 6 }, { id: 1, ...suspect }));
    ahead.add(claim({ id: 3 }));

    expect(idsOf(ahead)).toEqual([5, 2, 4, 6, 1, 3]);
  });
});

function claim(...jobs: (Partial<ClaimedJob> & { id: number })[]): Place[] {
  return jobs.map((job, index) => ({
    claim: {} as HeldClaim,
    job: { priority: 0, attempt: 1, lastError: null, ...job } as ClaimedJob,
    index,
  }));
}

function idsOf(ahead: ClaimedAhead): number[] {
  return ahead.drop().map(({ job }) => job.id);
}
