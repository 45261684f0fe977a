import { ASCII_WITHOUT_ESCAPES, withLiterals } from './mysql/mysql-pool.js';
import type { SqlDatabase } from '../core/sql-database.js';
import type { Templates } from '../core/template.js';
import type { DatabaseSchema } from '../schema/database-schema.js';
import { currentVersion } from '../schema/schema.js';

export interface PendingMigration {
  /** The version of the tables; 0 if they do not exist. */
  readonly from: number;
  /** The statements that update the tables to this release, in order. */
  readonly statements: readonly string[];
}

/** The statements that a migration would execute. */
export async function readPendingMigration(
  database: Pick<SqlDatabase, 'runIdempotent'>,
  schema: DatabaseSchema,
  templates: Templates,
): Promise<PendingMigration> {
  const from = await database.runIdempotent(() => currentVersion());
  const due = schema.migrations().filter(({ version }) => version > from);
  const statements = due
    .flatMap(({ up }) => up)
    .map((statement) => withLiterals(templates.bind(statement), ASCII_WITHOUT_ESCAPES));
  return { from, statements: statements.map(withoutIndent) };
}

/** Removes the indentation that all lines have in the source. */
function withoutIndent(sql: string): string {
  const lines = sql.replace(/^\n+|\s+$/g, '').split('\n');
  const indents = lines.filter((line) => line.trim() !== '').map((line) => /^ */.exec(line)![0].length);
  const indent = Math.min(...indents);
  return lines.map((line) => line.slice(indent)).join('\n');
}
