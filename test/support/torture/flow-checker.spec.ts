import type { JournalEntry } from '../journal.js';
import { findFlowViolations } from './flow-checker.js';

const JOBS = [
  { id: 1, token: 'a', kind: 'plain', state: 'completed', attempt: 1 },
  { id: 2, token: 'b', kind: 'plain', state: 'completed', attempt: 1 },
  { id: 3, token: 'c', kind: 'fans-out', state: 'completed', attempt: 1 },
  { id: 4, token: 'c/0', kind: 'plain', state: 'completed', attempt: 1 },
  { id: 5, token: 'c/1', kind: 'plain', state: 'completed', attempt: 1 },
];

describe('the checker of flows', () => {
  it('finds nothing wrong in a correct run', () => {
    const edges = [
      { job: 2, needs: 1, state: 'done' },
      { job: 3, needs: 4, state: 'done' },
      { job: 3, needs: 5, state: 'done' },
    ];

    expect(findFlowViolations(begun(1, 2, 3, 4, 5, 3), JOBS, edges)).toEqual([]);
  });

  it('finds jobs that ran too early or after a failure, that still wait, and missing children', () => {
    const edges = [
      { job: 2, needs: 1, state: 'failed' },
      { job: 3, needs: 4, state: 'open' },
    ];

    expect(findFlowViolations(begun(2, 1, 3), JOBS.slice(0, 4), edges)).toEqual([
      'job 2 is completed, although job 1 has failed',
      'job 2 began before job 1 had ended',
      'job 3 still waits for job 4',
      'job 3 is completed with 1 children',
    ]);
  });
});

function begun(...jobs: number[]): JournalEntry[] {
  return jobs.map((job, at) => ({ kind: 'begin', by: 'w', job, attempt: 1, at }));
}
