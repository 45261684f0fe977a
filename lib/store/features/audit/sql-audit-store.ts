import type { PageOrder, PagePosition } from '../../../job/page-options.js';
import { orderKeywordsOf } from '../../reads/candidates.js';
import { parseJsonOrNull } from '../../core/parse-json.js';
import type { StoreParts } from '../../rows/store-parts.js';
import { deleteFrom, execute, query, type Work } from '../../core/statement.js';
import type { AuditFilter, AuditRecord, AuditStore, AuditVerb } from './audit-store.js';
import type { TableRow } from '../../tables/table-schemas.js';

// Each column has an index, which ends with the order of the list. The first condition of the filter chooses it.
const COLUMNS = { by: 'made_by', queue: 'queue', verb: 'verb' } satisfies Record<keyof AuditFilter, string>;

const OLD = `
  SELECT id
  FROM {audit} {by audit.time}
  WHERE changed_at < :now - :olderThanMs
  ORDER BY changed_at, id
  LIMIT :limit`;

const DELETE = deleteFrom('audit', 'id = :id AND changed_at < :now - :olderThanMs');

export function sqlAuditStore({ database }: StoreParts): AuditStore {
  return {
    async list(filter, { after, limit, order }) {
      const conditions = (['by', 'queue', 'verb'] as const).filter((name) => filter[name] !== undefined);
      const [at, id] = (after ?? []) as readonly (number | undefined)[];
      const values = { ...filter, at: at ?? null, id: id ?? null, limit: limit + 1 };
      const sql = selectPage(conditions, after !== undefined, order);
      const rows = await database.runIdempotent(() => query<TableRow<'audit'>>(sql, values));
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const next: PagePosition | undefined =
        last && rows.length > limit ? [Number(last.changed_at), Number(last.id)] : undefined;
      return { entries: page.map(toRecord), ...(next && { next }) };
    },

    prune: (olderThanMs, limit) => database.runIdempotent(() => pruneAudit(olderThanMs, limit)),
  };
}

function selectPage(conditions: readonly (keyof AuditFilter)[], hasPosition: boolean, order: PageOrder): string {
  const { beyond, way } = orderKeywordsOf(order);
  const index = conditions.length > 0 ? COLUMNS[conditions[0]!] : 'time';
  // The first comparison gives the index its range.
  const position = `changed_at ${beyond}= :at AND (changed_at ${beyond} :at OR id ${beyond} :id)`;
  const where = [...conditions.map((name) => `${COLUMNS[name]} = :${name}`), ...(hasPosition ? [position] : [])];
  return `
    SELECT id, verb, queue, made_by, details, changed, changed_at
    FROM {audit} {by audit.${index}}
    WHERE ${where.length > 0 ? where.join(' AND ') : '1 = 1'}
    ORDER BY changed_at ${way}, id ${way}
    LIMIT :limit`;
}

function* pruneAudit(olderThanMs: number, limit: number): Work<number> {
  const old = yield* query<{ id: number }>(OLD, { olderThanMs, limit });
  for (const { id } of old) yield* execute(DELETE, { id: Number(id), olderThanMs });
  return old.length;
}

function toRecord(row: TableRow<'audit'>): AuditRecord {
  const { which = null, options } = parseJsonOrNull<{ which?: unknown; options?: unknown }>(row.details) ?? {};
  return {
    id: Number(row.id),
    verb: row.verb as AuditVerb,
    which,
    ...(options !== undefined && { options }),
    queue: row.queue,
    by: row.made_by,
    count: Number(row.changed),
    at: new Date(Number(row.changed_at)),
  };
}
