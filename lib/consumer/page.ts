import { expected, isOptions, isWhole, unknownKeys } from '../job/expectation.js';
import type { AssignedJobPage } from '../store/consumer-store.js';

// Before the first job there can be.
const HEAD = { id: 0, priority: -32_769 };

/** Of one that has been checked. */
export function pageOf({ after = HEAD, limit = 100 }: AssignedJobPage): Required<AssignedJobPage> {
  return { after: { id: after.id, priority: after.priority }, limit };
}

/** `also`: keys that stand beside. */
export function pageProblems(page: AssignedJobPage, also: readonly string[] = []): (string | undefined)[] {
  const { after = HEAD, limit = 100 } = isOptions(page) ? page : {};
  const { id, priority } = isOptions(after) ? after : ({} as Partial<typeof HEAD>);
  const isPlace = isWhole(id, 0, Number.MAX_SAFE_INTEGER) && isWhole(priority, -32_769, 32_767);
  return [
    ...unknownKeys(page, ['after', 'limit', ...also]),
    expected(isPlace, 'after to be the last record of the page before, or its { id, priority }', after),
    expected(isWhole(limit, 1, 1_000), 'limit to be a whole number from 1 to 1000', limit),
  ];
}
