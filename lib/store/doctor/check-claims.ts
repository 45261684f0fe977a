import { query } from '../core/statement.js';
import { ok, problem, type Check } from './check.js';

const GRACE_MS = 60_000;

const LAPSED = `
  SELECT queue, COUNT(*) AS claims, :now - MIN(lease_until) AS lapsed_ms
  FROM {claims}
  WHERE lease_until < :now - ${GRACE_MS}
  GROUP BY queue
  ORDER BY queue
  LIMIT 20`;

interface LapsedClaims {
  readonly queue: string;
  readonly claims: number;
  readonly lapsed_ms: number;
}

/** Claims of dead processes that no worker rescues. */
export const checkClaims: Check = {
  name: 'claims',
  async run({ database }) {
    const lapsed = await database.runIdempotent(() => query<LapsedClaims>(LAPSED));
    if (lapsed.length === 0) return [ok('no lease ended more than a minute ago')];
    return lapsed.map(({ queue, claims, lapsed_ms }) =>
      problem(
        `${queue}: the leases of ${claims} claims have ended, the first one ${Math.floor(lapsed_ms / 1_000)} s ago`,
        'Their processes died, and no worker rescues their jobs. Start a worker, or find out why the running ones cannot.',
      ),
    );
  },
};
