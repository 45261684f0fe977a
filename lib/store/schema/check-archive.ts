import { query, type Work } from '../core/statement.js';
import { inArchive } from './archive-options.js';
import { historyTable } from './entities/history.entity.js';

const columns = Object.values(historyTable.columns).map(({ name }) => name);

const SELECT_COLUMNS = `
  SELECT ${columns.join(', ')}
  FROM {archive}
  WHERE id = 0`;

/** Rejects if the archive or one of its columns is missing. */
export function* checkArchive(to: string): Work<void> {
  yield* query(inArchive(SELECT_COLUMNS, to));
}
