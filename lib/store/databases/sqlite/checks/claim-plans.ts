import { query } from '../../../core/statement.js';
import type { ClaimPlans } from '../../../doctor/check-claim-plan.js';
import { CLAIM_OLDEST } from '../claim/update.js';

const EXPLAIN = `EXPLAIN QUERY PLAN ${CLAIM_OLDEST}`;

export const SQLITE_PLANS: ClaimPlans = {
  async problemOf({ database }, queue) {
    const values = { queue, limit: 10, claimId: 0, maxAttempts: 1 };
    const plan = await database.runIdempotent(() => query<{ detail: string }>(EXPLAIN, values));
    const details = plan.map(({ detail }) => detail);
    const isBad = details.some((detail) => /TEMP B-TREE|^SCAN/.test(detail));
    return isBad ? `a claim of ${queue} has the plan ${details.join('; ')}` : undefined;
  },

  isMissingIndex: (error) => (error as Error).message.startsWith('no such index'),
};
