import { pageSize } from '../../../common/lists.js';
import type { ContentCodec } from '../../../job/codec/content-codec.js';
import { isBlob } from '../../../job/codec/payload-codec.js';
import { hasCode } from '../../../job/errors.js';
import { ascending, idsOf } from '../../../job/identifiers.js';
import { jobOverridesOf, readDate } from '../../../job/read-columns.js';
import {
  executeAll,
  valuesLengthOf,
  MAX_STATEMENT_LENGTH,
  query,
  type SqlValue,
  type Statement,
  type Values,
  type Work,
} from '../../core/statement.js';
import { rememberBlob } from '../../ends/subjects.js';
import type { StoreParts } from '../../rows/store-parts.js';
import { inArchive } from '../../tables/archive-options.js';
import type { ContentStore } from './content-store.js';
import { ARCHIVE_TABLE, COMPARED_LENGTH, CONTENT_TABLES, type ContentTable } from './content-tables.js';
import { reencode, type Due, type Recoder } from './reencode.js';

type ContentRow = Record<string, string | number | null>;

// Few, because each row may have a megabyte.
const MAX_ROWS = 50;

const optionsOf = (table: string) => `
  SELECT id, options
  FROM ${table}
  WHERE id IN (:ids)`;

/** A new blob, and the job whose payload or result it has. */
interface StoredBlob {
  readonly id: number;
  readonly reference: string;
}

interface ContentWrite extends Statement {
  readonly blobs: readonly StoredBlob[];
}

export function sqlContentStore({ blocking, archives }: StoreParts, codec: ContentCodec): ContentStore {
  const archiveTables = (archives?.tables ?? []).map((to) => ({
    ...ARCHIVE_TABLE,
    read: inArchive(ARCHIVE_TABLE.read, to),
    write: inArchive(ARCHIVE_TABLE.write, to),
  }));

  const readOptions = [
    optionsOf('{jobs}'),
    optionsOf('{history}'),
    ...(archives?.tables ?? []).map((to) => inArchive(optionsOf('{archive}'), to)),
  ];

  async function rekeyRows(table: ContentTable, rows: readonly ContentRow[], dryRun: boolean) {
    const writes: ContentWrite[] = [];
    let [active, undecodable] = [0, 0];
    for (const row of rows) {
      const isActive = Number(row['claim_id'] ?? 0) !== 0;
      // Nothing is written, so no blob is stored.
      const write = await writeOf(table, row, { from: codec, to: dryRun || isActive ? codec.inline : codec });
      if (write === 'undecodable') undecodable++;
      else if (write && isActive) active++;
      else if (write) writes.push(write);
    }
    if (dryRun || writes.length === 0) return { rekeyed: writes.length, active, undecodable };
    const rekeyed = await blocking.transaction(function* () {
      const written = yield* writeAll(writes);
      yield* rememberBlobs(writes.flatMap(({ blobs }) => blobs));
      return written;
    });
    return { rekeyed, active, undecodable };
  }

  /** So that an erasure finds them after their rows have gone: see ends/subjects.ts. */
  function* rememberBlobs(blobs: readonly StoredBlob[]): Work<void> {
    if (blobs.length === 0) return;
    const ids = ascending([...new Set(idsOf(blobs))]);
    const subjects = new Map<number, string | undefined>();
    for (const sql of readOptions)
      for (const { id, options } of yield* query<{ id: number; options: string | null }>(sql, { ids }))
        subjects.set(Number(id), jobOverridesOf(options).subject);
    yield* executeAll(blobs.flatMap(({ id, reference }) => rememberBlob(id, subjects.get(id), reference)));
  }

  return {
    rekey({ dryRun }) {
      const rest: ContentTable[] = [...CONTENT_TABLES, ...archiveTables];
      let position: Values | undefined;
      return async (limit) => {
        const [table] = rest;
        if (!table) return { rekeyed: 0, active: 0, undecodable: 0, hasMore: false };
        const values = { ...(position ?? table.start), limit: pageSize(Math.min(limit, MAX_ROWS)) };
        const rows = await blocking.runIdempotent(() => query<ContentRow>(table.read, values));
        const last = rows.at(-1);
        position = last && Object.fromEntries(Object.keys(table.start).map((column) => [column, last[column]!]));
        if (!last) rest.shift();
        return { ...(await rekeyRows(table, rows, dryRun)), hasMore: rest.length > 0 };
      };
    },
  };
}

/** Undefined if the row is current. */
async function writeOf(
  table: ContentTable,
  row: ContentRow,
  codec: Recoder,
): Promise<ContentWrite | 'undecodable' | undefined> {
  const blobs: StoredBlob[] = [];
  const values: Record<string, string | number | null> = {};
  const due = dueOf(row);
  let isCurrent = true;
  try {
    for (const [column, kind] of Object.entries(table.content)) {
      const stored = row[column] as string | null;
      const encoded = stored === null ? null : await reencode(codec, stored, kind, due);
      isCurrent &&= encoded === stored;
      if (encoded !== null && encoded !== stored && isBlob(encoded))
        blobs.push({ id: Number(row['needs'] ?? row['id']), reference: encoded });
      values[column] = encoded;
      values[`${column}Start`] = startOf(stored ?? '');
    }
  } catch (error) {
    if (hasCode(error, 'UNDECODABLE_CONTENT')) return 'undecodable';
    throw error;
  }
  for (const column of Object.keys(table.start)) values[column] = row[column]!;
  return isCurrent ? undefined : { sql: table.write, values, blobs };
}

/** Rows other than those of jobs that are not finished have neither column. */
function dueOf({ run_at = null, blocked_options = null }: ContentRow): Due {
  const { delayMs, runAtMs } = jobOverridesOf(blocked_options);
  return { delayMs, runAtMs: readDate(run_at) ?? runAtMs };
}

/** Databases count characters, and JavaScript counts UTF-16 units. */
function startOf(text: string): string {
  const units = text.slice(0, 2 * COMPARED_LENGTH);
  return Array.from(units).slice(0, COMPARED_LENGTH).join('');
}

/** Returns the number of written rows. Rows that have changed meanwhile stay as they are. */
function* writeAll(writes: readonly Statement[]): Work<number> {
  let written = 0;
  let step: Statement[] = [];
  let length = 0;
  for (const write of writes) {
    const size = valuesLengthOf(Object.values(write.values) as SqlValue[]);
    if (step.length > 0 && length + size > MAX_STATEMENT_LENGTH) {
      written += changedRows(yield* executeAll(step));
      [step, length] = [[], 0];
    }
    step.push(write);
    length += size;
  }
  return written + changedRows(yield* executeAll(step));
}

function changedRows(results: readonly { readonly affectedRows: number }[]): number {
  return results.reduce((sum, { affectedRows }) => sum + affectedRows, 0);
}
