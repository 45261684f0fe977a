import { query } from '../../../core/statement.js';
import { queueIndexOf, type ClaimPlans } from '../../../doctor/check-claim-plan.js';
import { LOCK_OLDEST } from '../claim/skip-locked.js';

const EXPLAIN = `EXPLAIN FORMAT = TRADITIONAL ${LOCK_OLDEST}`;

const NO_SUCH_INDEX = 1176;

interface PlanRow {
  readonly type: string | null;
  readonly key: string | null;
  readonly Extra: string | null;
}

export const MYSQL_PLANS: ClaimPlans = {
  async problemOf(patient, queue) {
    const plans = await patient.database.runIdempotent(() => query<PlanRow>(EXPLAIN, { queue, limit: 10 }));
    const bad = plans.find(
      ({ type, key, Extra }) =>
        type !== null &&
        (key !== queueIndexOf(patient) || type === 'ALL' || type === 'index' || /filesort|temporary/.test(Extra ?? '')),
    );
    if (!bad) return undefined;
    const { type, key, Extra } = bad;
    return `a claim of ${queue} has the plan ${type} ${key ?? 'without an index'} ${Extra ?? ''}`.trim();
  },

  isMissingIndex: (error) => (error as { errno?: number }).errno === NO_SUCH_INDEX,
};
