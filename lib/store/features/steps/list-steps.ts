import { parseJsonOrNull } from '../../core/parse-json.js';
import { query, type Work } from '../../core/statement.js';
import type { PageOrder, PageRequest } from '../../../job/page-options.js';
import { orderKeywordsOf } from '../../reads/candidates.js';
import type { TableRow } from '../../tables/table-schemas.js';
import type { StepRecord } from './step-store.js';

const selectSteps = (order: PageOrder) => `
  SELECT name, state, result, until_at, signal_key, :now AS at
  FROM {steps} {by primary}
  WHERE job_id = :jobId AND name ${orderKeywordsOf(order).beyond} :after
  ORDER BY name ${orderKeywordsOf(order).way}
  LIMIT :limit`;

// No name of a step begins with it, and it comes after all of them.
const AFTER_ALL_NAMES = '~';

type StepRow = Pick<TableRow<'steps'>, 'name' | 'state' | 'result' | 'until_at'> & {
  readonly signal_key: string | null;
  readonly at: number;
};

/** The steps of a job by name, with their encoded values. */
export function* listSteps(jobId: number, { after, limit, order }: PageRequest): Work<StepRecord[]> {
  const start = order === 'oldest' ? '' : AFTER_ALL_NAMES;
  const rows = yield* query<StepRow>(selectSteps(order), { jobId, limit, after: after?.[0] ?? start });
  return rows.map(toRecord);
}

function toRecord({ name, state, result, until_at, signal_key: signalKey, at }: StepRow): StepRecord {
  const until = until_at === null ? null : new Date(Number(until_at));
  const isOver = until !== null && until.getTime() <= Number(at);
  const common = { name, until, signalKey };
  if (state === 'sleeping') return { ...common, state: isOver ? 'done' : 'sleeping', value: null };
  if (state === 'waiting') return { ...common, state: 'waiting', value: null };
  if (signalKey === null) return { ...common, state: 'done', value: parseJsonOrNull(result) };
  // The data of a signal stands in a list, which is empty if the signal has none.
  const data = parseJsonOrNull<unknown[]>(result);
  return { ...common, state: data === null ? 'timed-out' : 'done', value: data?.[0] ?? null };
}
