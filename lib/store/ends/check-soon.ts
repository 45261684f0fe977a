import { ascending } from '../../job/identifiers.js';
import { jobOverridesOf } from '../../job/read-columns.js';
import { executeInBatches, statement, type Work } from '../core/statement.js';
import { CHECK_INTERVAL_MS } from '../rows/expiry.js';
import type { TableRow } from '../tables/table-schemas.js';
import type { EarlierRuns } from './earlier-runs.js';

// Also if the next check is due sooner, because it may be under way with the old retention. A check skips locked rows, or
// postpones only rows that are still due.
const SOON = `expires_at = :now + ${CHECK_INTERVAL_MS}`;

const CHECK_LOGS = `
  UPDATE {progress} {by primary}
  SET ${SOON}
  WHERE job_id IN (:ids)`;

// The conditions that are always true keep both servers from scanning a small table.
const CHECK_STEPS = `
  UPDATE {steps} {by primary}
  SET ${SOON}
  WHERE job_id = :id AND name > ''`;

const CHECK_FLOW = `
  UPDATE {flows} {by primary}
  SET ${SOON}
  WHERE id = :id`;

const CHECK_SUBJECT = `
  UPDATE {subjects} {by primary}
  SET ${SOON}
  WHERE subject = :subject AND job_id = :id`;

/**
 * These jobs leave the history before their retention ends. The pruner has postponed the checks of their rows in other tables
 * to its end, but the jobs may be gone earlier.
 *
 * @param runs those whose steps and logs stay
 */
export function* checkSoon(
  jobs: readonly Pick<TableRow<'history'>, 'id' | 'options'>[],
  runs: Pick<EarlierRuns, 'withSteps' | 'withLogs'> = { withSteps: [], withLogs: [] },
): Work<void> {
  const overrides = new Map(jobs.map(({ id, options }) => [Number(id), jobOverridesOf(options)]));
  const flows = new Set([...overrides.values()].flatMap(({ flow }) => flow ?? []));
  yield* executeInBatches([
    ...(runs.withLogs.length === 0 ? [] : [statement(CHECK_LOGS, { ids: ascending(runs.withLogs) })]),
    ...ascending(runs.withSteps).map((id) => statement(CHECK_STEPS, { id })),
    ...ascending(flows).map((id) => statement(CHECK_FLOW, { id })),
    ...ascending(overrides.keys()).flatMap((id) => {
      const subject = overrides.get(id)?.subject;
      return subject === undefined ? [] : [statement(CHECK_SUBJECT, { subject, id })];
    }),
  ]);
}
