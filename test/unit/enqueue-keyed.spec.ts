import { isTurnLong } from '../../lib/common/turn.js';
import type { NewJob } from '../../lib/job/job.js';
import { NEXT_TURN, type StatementResult } from '../../lib/store/core/statement.js';
import { enqueueKeyed } from '../../lib/store/features/keys/enqueue-keyed.js';
import { newJob } from '../support/jobs.js';

const COUNT = 3_000;

describe('a long list of jobs with keys', () => {
  it('is stored by many steps of some statements each', () => {
    const work = enqueueKeyed([keyedJobs()], new Set());
    let [assigned, longestStep] = [0, 0];

    let step = work.next();
    while (!step.done) {
      const { statements } = step.value;
      longestStep = Math.max(longestStep, statements.length);
      assigned += statements.filter(({ sql }) => /SET job_id/.test(sql)).length;
      step = work.next(statements.map(({ values }) => answer(values['hashes'] as string[] | undefined)));
    }

    const { writes } = step.value;
    expect(Math.max(longestStep, writes.length)).toBeLessThanOrEqual(500);
    expect(assigned + writes.length).toBe(COUNT);
  });

  it('is planned in parts, between which the event loop runs', () => {
    const work = enqueueKeyed([keyedJobs()], new Set());
    let turns = 0;

    while (!isTurnLong());
    let step = work.next();
    while (!step.done) {
      if (step.value === NEXT_TURN) turns++;
      step = work.next(step.value.statements.map(({ values }) => answer(values['hashes'] as string[] | undefined)));
    }

    // The turn stays long here, so each job ends a part.
    expect(turns).toBeGreaterThan(COUNT);
  });
});

function keyedJobs(): NewJob[] {
  return Array.from({ length: COUNT }, (_, n) =>
    newJob({ key: { text: `${n}`, hash: `${n}`, until: 'finished', durationMs: null, onConflict: 'return' } }),
  );
}

/** The keys exist, and no job owns them. */
function answer(hashes: readonly string[] = []): StatementResult {
  const row = { job_id: 0, key_until: 'finished', kept_until: 0, at: 0, has_time: 0, alive: null, name: null };
  return { rows: hashes.map((key_hash) => ({ ...row, key_hash })), affectedRows: 0, insertId: 1, idStep: 1 };
}
