import { NO_SKEW } from '../../../common/clock.js';
import type { BlobRows } from '../../../job/codec/blob-options.js';
import { referencesUntil } from '../../../job/codec/blobs.js';
import type { StoreParts } from '../../rows/store-parts.js';
import { inArchive } from '../../tables/archive-options.js';
import { query, readTime } from '../../core/statement.js';
import { ARCHIVE_TABLE, CONTENT_TABLES, type ContentTable } from './content-tables.js';

export function sqlBlobRows({ blocking, dialect, clock, archives }: StoreParts, skew = NO_SKEW): BlobRows {
  const inArchives = (archives?.tables ?? []).flatMap((to) =>
    referencesIn(ARCHIVE_TABLE).map((sql) => inArchive(sql, to)),
  );
  // One statement, so that it sees each row once: a job may move between the tables meanwhile. It reads whole tables.
  const needed = [...CONTENT_TABLES.flatMap(referencesIn), ...inArchives].join('\n  UNION ALL');

  return {
    // On SQLite a statement would wait for the caller's transaction on a shared connection.
    readTime: () =>
      dialect.hasClockOfThisMachine
        ? Promise.resolve(clock.now().getTime() + skew.ms)
        : blocking.runIdempotent(() => readTime()),

    async referencesUntil(day) {
      const values = referencesUntil(day);
      const rows = await blocking.runIdempotent(() => query<{ reference: string }>(needed, values));
      return rows.map(({ reference }) => reference);
    },
  };
}

function referencesIn({ table, content }: ContentTable): string[] {
  const columns = Object.keys(content).filter((column) => ['payload', 'result'].includes(content[column]!));
  return columns.map(
    (column) => `
  SELECT ${column} AS reference
  FROM ${table}
  WHERE ${column} >= :from AND ${column} < :to`,
  );
}
