import type { ChangeOfPause } from '../../job/explain/job-reason.js';
import { isOptions } from '../../job/expectation.js';
import type { AuditVerb } from '../features/audit/audit-store.js';
import { parseJsonOrNull } from '../core/parse-json.js';
import { executeAll, statement, type Statement, type StatementResult, type Work } from '../core/statement.js';
import type { TableRow } from '../tables/table-schemas.js';

// The last changes with this verb, of all queues. A pause before them is not found.
const LAST_CHANGES = `
  SELECT queue, verb, made_by, details, changed_at
  FROM (
    SELECT queue, verb, made_by, details, changed_at, id
    FROM {audit} {by audit.verb}
    WHERE verb = :verb
    ORDER BY changed_at DESC, id DESC
    LIMIT 200
  ) AS latest
  WHERE queue IN (:queues) OR queue IS NULL
  ORDER BY changed_at DESC, id DESC`;

const PAUSES_OF_QUEUES: readonly AuditVerb[] = ['pause', 'configure'];

type AuditRow = Pick<TableRow<'audit'>, 'queue' | 'verb' | 'made_by' | 'details' | 'changed_at'>;

/** How an administrator stops a queue: by a pause, or by `enabled: false`. */
type Stop = 'paused' | 'disabled';

/** The statements that find the last stops of queues; see `stopsIn`. */
export function selectLastStops(queues: readonly string[]): Statement[] {
  return PAUSES_OF_QUEUES.map((verb) => statement(LAST_CHANGES, { verb, queues }));
}

/** The last stop of each queue in the audit, which may be too old or may have been made by other means. */
export function stopsIn(
  results: readonly StatementResult[],
  stop: Stop,
  queues: readonly string[],
): ReadonlyMap<string, ChangeOfPause> {
  const rows = results.flatMap((result) => result.rows as unknown as AuditRow[]);
  return new Map(queues.map((queue) => [queue, lastOf(rows.filter((row) => isStopOf(row, stop, queue)))]));
}

/** @param group undefined: the pause of the queue */
export function* readPause(queue: string, group?: string): Work<ChangeOfPause> {
  if (group === undefined) return stopsIn(yield* executeAll(selectLastStops([queue])), 'paused', [queue]).get(queue)!;
  const [found] = yield* executeAll([statement(LAST_CHANGES, { verb: 'group.pause', queues: [queue] })]);
  const rows = found!.rows as unknown as AuditRow[];
  return lastOf(rows.filter(({ details }) => isGroup(detailsOf(details).which, group)));
}

function lastOf(rows: readonly AuditRow[]): ChangeOfPause {
  const [last] = [...rows].sort((a, b) => Number(b.changed_at) - Number(a.changed_at));
  return { since: last ? new Date(Number(last.changed_at)) : null, by: last?.made_by ?? null };
}

function isStopOf(row: AuditRow, stop: Stop, queue: string): boolean {
  if (row.queue !== null && row.queue !== queue) return false;
  const { which, options } = detailsOf(row.details);
  if (row.verb !== 'configure') return stop === 'paused' && (which === queue || isOptions(which));
  if (!isOptions(options)) return false;
  if (stop === 'paused') return 'paused' in options && options.paused === true;
  return 'enabled' in options && options.enabled === false;
}

const isGroup = (which: unknown, group: string) => isOptions(which) && 'group' in which && which.group === group;

function detailsOf(text: string): { which?: unknown; options?: unknown } {
  return parseJsonOrNull<{ which?: unknown; options?: unknown }>(text) ?? {};
}
