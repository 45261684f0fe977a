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

    const waited = [...entries('begin', 1, 2, 3, 4, 5), ...entries('end', 6, 6, 6, 6, 6, 3)];
    const endedMeanwhile = [...entries('begin', 1, 2, 3, 4, 5), ...entries('end', 6, 6, 6, 6, 4, 5, 3)];

    expect(findFlowViolations(waited, JOBS, edges)).toEqual([]);
    expect(findFlowViolations(endedMeanwhile, JOBS, edges)).toEqual([]);
  });

  it('finds nothing wrong in a job that a failed child has cancelled before another one began', () => {
    const jobs = JOBS.map((job) => ({ ...job, ...(job.id === 3 && { state: 'cancelled', attempt: 0 }) }));
    const edges = [
      { job: 3, needs: 4, state: 'failed' },
      { job: 3, needs: 5, state: 'done' },
    ];

    expect(
      findFlowViolations(
        [...entries('begin', 1, 2, 3, 4), ...entries('end', 3), ...entries('begin', 9, 9, 9, 9, 9, 5)],
        jobs,
        edges,
      ),
    ).toEqual([]);
  });

  it('finds jobs that ran too early or after a failure, that still wait, and missing children', () => {
    const edges = [
      { job: 2, needs: 1, state: 'failed' },
      { job: 3, needs: 4, state: 'open' },
    ];
    const run = [...entries('begin', 2, 1, 3, 6, 4), ...entries('end', 3)];

    expect(findFlowViolations(run, JOBS.slice(0, 4), edges)).toEqual([
      'job 2 is completed, although job 1 has failed',
      'job 2 did not wait for job 1',
      'job 3 still waits for job 4',
      'job 3 did not wait for job 4',
      'job 3 is completed with 1 children',
    ]);
  });
});

/** An entry for each job, one after the other from time 0. */
function entries(kind: 'begin' | 'end', ...jobs: number[]): JournalEntry[] {
  return jobs.map((job, at) => ({ kind, by: 'w', job, attempt: 1, at }));
}
