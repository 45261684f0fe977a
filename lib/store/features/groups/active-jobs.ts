import { groupBy } from '../../../common/lists.js';
import { idsInClaims } from '../../reads/live-candidates.js';
import { idsOf } from '../../../job/identifiers.js';
import { queryInBatches, type Work } from '../../core/statement.js';
import type { GroupRow } from './group-row.js';

const ACTIVE = `
  SELECT id, group_key
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND claim_id <> 0 AND queue = :queue AND group_key <> ''`;

const IDS_PER_STATEMENT = 1_000;

/**
 * The active jobs of groups that do not list them, by group. The row of a group lists its active jobs only while it has a
 * limit, so a limit that is set later finds them here.
 */
export function* findActiveJobs(queue: string, groups: readonly string[]): Work<ReadonlyMap<string, number[]>> {
  if (groups.length === 0) return new Map();
  const ids = [...new Set(yield* idsInClaims({ queue }))];
  const rows = yield* queryInBatches<ActiveRow>(ACTIVE, ids, IDS_PER_STATEMENT, { queue });
  const wanted = new Set(groups);
  const ofGroups = groupBy(rows, ({ group_key }) => group_key);
  return new Map([...ofGroups].filter(([group]) => wanted.has(group)).map(([group, jobs]) => [group, idsOf(jobs)]));
}

type ActiveRow = Pick<GroupRow, 'group_key'> & { readonly id: number };
