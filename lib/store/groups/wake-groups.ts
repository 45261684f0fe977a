import { groupBy } from '../../common/group-by.js';
import { execute, type Work } from '../core/statement.js';
import type { Completion } from '../jobs/completion.js';
import type { FencedStatement } from '../jobs/fence.js';

// Writes each row, although most states stay: the lock keeps a claim from counting a job that ends in this transaction. The
// turn comes first, because the server assigns from left to right.
const WAKE = `
  UPDATE {groups} /*! FORCE INDEX (PRIMARY) */
  SET turn = CASE WHEN state = 'blocked' THEN :now ELSE turn END,
      state = CASE WHEN state = 'blocked' THEN 'ready' ELSE state END
  WHERE queue = :queue AND group_key IN (:groups)`;

const NONE: readonly FencedStatement[] = [];

/**
 * The statements that make groups claimable in which these jobs end. They come before those for claims and jobs, and are in
 * the order of the primary key, in which every transaction locks groups.
 */
export function wakeGroups(completions: readonly Pick<Completion, 'job'>[]): readonly FencedStatement[] {
  if (!completions.some(({ job }) => job.group !== null && job.countsInGroup !== false)) return NONE;
  const counted = completions.filter(({ job: { group, countsInGroup } }) => group !== null && countsInGroup !== false);
  const queues = groupBy(counted, ({ job }) => job.queue);
  return [...queues.keys()].sort().map((queue) => {
    const groups = [...new Set(queues.get(queue)!.map(({ job }) => job.group!))].sort();
    return { sql: WAKE, values: { queue, groups }, expectedRows: undefined };
  });
}

export function* wakeGroup({ queue, group }: { readonly queue: string; readonly group: string }): Work<void> {
  yield* execute(WAKE, { queue, groups: [group] });
}
