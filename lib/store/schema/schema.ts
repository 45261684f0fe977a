import { hasCode, SchemaOutOfDateError } from '../../job/errors.js';
import { inArchive, type Archives } from '../tables/archive-options.js';
import type { DatabaseSchema } from './database-schema.js';
import { schemaVersion } from './migrations.js';
import { isAppliedBefore, isMissingTable } from '../core/classify-error.js';
import type { Dialect, Place, SqlDatabase } from '../core/sql-database.js';
import { archiveTable } from '../tables/job-tables.js';
import { execute, query, executeAll, type Work } from '../core/statement.js';

const VERSION = `SELECT MAX(version) AS version FROM {schema}`;

const archiveColumns = Object.values(archiveTable.columns).map(({ name }) => name);

// Fails if the archive or one of its columns is missing.
const CHECK_ARCHIVE = `
  SELECT ${archiveColumns.join(', ')}
  FROM {archive}
  WHERE id = 0`;

// Each try waits up to 3 s.
const MAX_LOCK_TRIES = 7;

/** `run`: create or update the tables at boot. `check`: reject at boot if they are out of date. `off`: no check. */
export type MigrateMode = 'run' | 'check' | 'off';

export interface SchemaSettings {
  readonly migrate: MigrateMode;
  /** The tables that receive finished jobs when their retention is over; undefined: the jobs are deleted. */
  readonly archives?: Archives | undefined;
}

/** Rejects with SchemaOutOfDateError if the tables or the archives do not fit this release. */
export async function prepareSchema(
  database: SqlDatabase,
  dialect: Dialect,
  schema: DatabaseSchema,
  { migrate: mode, archives }: SchemaSettings,
): Promise<void> {
  if (mode === 'off') return;
  await prepareTables(database, dialect, schema, mode);
  for (const to of archives?.tables ?? []) await prepareArchive(database, schema, mode, to);
}

async function prepareTables(
  database: SqlDatabase,
  dialect: Dialect,
  schema: DatabaseSchema,
  mode: MigrateMode,
): Promise<void> {
  const version = await database.runIdempotent(() => currentVersion());
  const expected = schemaVersion();
  if (version === expected) return;
  if (version > expected) {
    throw new SchemaOutOfDateError(
      `The queue's tables have version ${version}, expected ${expected}: a newer release of nestjs-sql-queue has ` +
        `changed them. Update the package in this application.`,
    );
  }
  if (mode === 'check') {
    const [place] = await database.runIdempotent(() => query<Place>(dialect.place));
    const seen = version === 0 ? `are missing: there is no table ${place!.name}` : `have version ${version}`;
    throw new SchemaOutOfDateError(
      `The queue's tables ${seen} in the database ${place!.db}, expected version ${expected}. Run ` +
        `\`npx nestjs-sql-queue migrate\`, with --prefix if their names do not begin with sql_queue_, or set ` +
        `\`schema: { migrate: 'run' }\`, or add ...sqlQueueMigrations() to the migrations of your DataSource and run ` +
        `\`npx typeorm migration:run -d <your data source>\`.`,
    );
  }
  await database.transaction(() => migrate(dialect, schema));
}

async function prepareArchive(
  database: SqlDatabase,
  schema: DatabaseSchema,
  mode: MigrateMode,
  to: string,
): Promise<void> {
  const check = () => database.runIdempotent(() => query(inArchive(CHECK_ARCHIVE, to)));
  // Checked before any CREATE: an account may lack the privilege to create tables.
  const missing = await schemaProblemOf(check);
  if (missing && mode === 'check') {
    throw archiveError(
      to,
      missing,
      `Add ...sqlQueueMigrations({ archive }) to the migrations of your DataSource and run \`npx typeorm migration:run -d ` +
        `<your data source>\`, or set \`schema: { migrate: 'run' }\`.`,
    );
  }
  if (!missing) return;
  // Safe in several processes at once: every statement does nothing if the table exists.
  const problem = await schemaProblemOf(async () => {
    for (const sql of schema.createArchive()) await database.runIdempotent(() => execute(inArchive(sql, to)));
    await check();
  });
  if (problem) throw archiveError(to, problem, 'Set `archive.to` to the name of a table that does not exist yet.');
}

/** The database's objection to the archive. Rejects if the database is unreachable or a privilege is missing. */
async function schemaProblemOf(act: () => Promise<unknown>): Promise<Error | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (hasCode(error, 'STORE_UNAVAILABLE') || hasCode(error, 'MISSING_PRIVILEGE')) throw error;
    // The explanation is about the tables of the queue.
    return (hasCode(error, 'SCHEMA_OUT_OF_DATE') ? (error as Error).cause : error) as Error;
  }
}

function archiveError(to: string, cause: Error, wayOut: string): SchemaOutOfDateError {
  return new SchemaOutOfDateError(`The archive ${to} is not as expected: ${cause.message}. ${wayOut}`, { cause });
}

/**
 * Migrates in one process at a time; the others then find nothing to do. MySQL commits after each CREATE or ALTER, so
 * this needs a lock that survives commits.
 */
function* migrate(dialect: Dialect, schema: DatabaseSchema): Work<void> {
  for (let tries = 1; !(yield* dialect.maintenanceLock.tryAcquire()); tries++) {
    if (tries < MAX_LOCK_TRIES) continue;
    throw new SchemaOutOfDateError(
      'Another process has been changing the tables of the queue for 20 seconds. Start again when it is done.',
    );
  }
  try {
    const version = yield* currentVersion();
    const due = schema.migrations().filter((migration) => migration.version > version);
    for (const statement of due.flatMap(({ up }) => up)) {
      try {
        yield* executeAll([statement]);
      } catch (error) {
        if (!isAppliedBefore(error)) throw error;
      }
    }
  } finally {
    yield* dialect.maintenanceLock.release();
  }
}

/** The version of the tables; 0 if they do not exist. */
export function* currentVersion(): Work<number> {
  try {
    const [row] = yield* query<{ version: number | null }>(VERSION);
    return row?.version ?? 0;
  } catch (error) {
    if (isMissingTable(error)) return 0;
    throw error;
  }
}
