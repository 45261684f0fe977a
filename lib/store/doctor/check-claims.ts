import { executeAll } from '../core/statement.js';
import { selectLapsedClaims, toLapsedClaims } from '../features/stats/lapsed-claims.js';
import { ok, problem, type Check } from './check.js';

/** Claims of dead processes that no worker rescues. */
export const checkClaims: Check = {
  name: 'claims',
  async run({ database }) {
    const [found] = await database.runIdempotent(() => executeAll([selectLapsedClaims()]));
    const lapsed = toLapsedClaims(found!);
    if (lapsed.length === 0) return [ok('no claim lacks a worker that rescues its jobs')];
    return lapsed.map(({ queue, claims, lapsedMs }) =>
      problem(
        `${queue}: the leases of ${claims} claims have ended, the first one ${Math.floor(lapsedMs / 1_000)} s ago`,
        'Their processes died, and no worker rescues their jobs. Start a worker, or find out why the running ones cannot.',
      ),
    );
  },
};
