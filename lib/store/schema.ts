import { hasCode, SchemaOutOfDateError } from '../job/errors.js';
import { inArchive } from './archive.js';
import { ARCHIVE_TABLE } from './migrations/archive-table.js';
import { MIGRATIONS, SCHEMA_VERSION, upStatements, type DialectName } from './migrations/migrations.js';
import type { Dialect } from './sql/dialect.js';
import type { SqlDatabase } from './sql/sql-database.js';
import { lookAtArchive } from './sql/archive.js';
import { change, query, together, type Work } from './sql/statement.js';

const VERSION = `SELECT MAX(version) AS version FROM {schema}`;

// Of 3 s each.
const LOCK_TRIES = 7;

/** `run`: make or bring up the tables at boot. `check`: refuse to boot without them. `off`: do not look. */
export type MigrateMode = 'run' | 'check' | 'off';

/** Sees to it that the tables are those of this release. */
export async function prepareSchema(
  database: SqlDatabase,
  dialect: Dialect,
  name: DialectName,
  mode: MigrateMode,
): Promise<void> {
  if (mode === 'off') return;
  const version = await database.repeatable(() => currentVersion());
  if (version === SCHEMA_VERSION) return;
  if (version > SCHEMA_VERSION) {
    throw new SchemaOutOfDateError(
      `The queue's tables have version ${version}, expected ${SCHEMA_VERSION}: a newer release of nestjs-sql-queue has ` +
        `changed them. Update the package in this application.`,
    );
  }
  if (mode === 'check') {
    throw new SchemaOutOfDateError(
      `The queue's tables ${version === 0 ? 'are missing' : `have version ${version}`}, expected version ` +
        `${SCHEMA_VERSION}. Add ...sqlQueueMigrations() to the migrations of your DataSource and run ` +
        `\`npx typeorm migration:run -d <your data source>\`, or set \`schema: { migrate: 'run' }\`.`,
    );
  }
  await database.transaction(() => migrate(dialect, name));
}

/** Like `prepareSchema`, for one archive, which the application names. */
export async function prepareArchive(
  database: SqlDatabase,
  name: DialectName,
  mode: MigrateMode,
  to: string,
): Promise<void> {
  if (mode === 'off') return;
  const look = () => database.repeatable(() => lookAtArchive(to));
  // Looked at first: not every account may make tables.
  const missing = await problemOf(look);
  if (missing && mode === 'check') {
    throw archiveProblem(
      to,
      missing,
      `Add ...sqlQueueMigrations({ archive }) to the migrations of your DataSource and run \`npx typeorm migration:run -d ` +
        `<your data source>\`, or set \`schema: { migrate: 'run' }\`.`,
    );
  }
  if (!missing) return;
  // Harmless where several processes do it at once.
  const odd = await problemOf(async () => {
    for (const sql of ARCHIVE_TABLE[name]) await database.repeatable(() => change(inArchive(sql, to)));
    await look();
  });
  if (odd) throw archiveProblem(to, odd, 'Give `archive.to` the name of a table that is not there yet.');
}

/** What the database says against it; that it cannot be reached is none of the archive's problems. */
async function problemOf(act: () => Promise<void>): Promise<Error | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (hasCode(error, 'STORE_UNAVAILABLE') || hasCode(error, 'MISSING_PRIVILEGE')) throw error;
    return error as Error;
  }
}

function archiveProblem(to: string, cause: Error, wayOut: string): SchemaOutOfDateError {
  return new SchemaOutOfDateError(`The archive ${to} is not as expected: ${cause.message}. ${wayOut}`, { cause });
}

/**
 * One process at a time; whoever comes second finds nothing left to do. MySQL commits at each statement that changes a
 * table, so the lock is one that outlives that.
 */
function* migrate(dialect: Dialect, name: DialectName): Work<void> {
  for (let tries = 1; !(yield* dialect.lock.take()); tries++) {
    if (tries < LOCK_TRIES) continue;
    throw new SchemaOutOfDateError(
      'Another process has been changing the tables of the queue for 20 seconds. Start again when it is done.',
    );
  }
  try {
    const version = yield* currentVersion();
    const due = MIGRATIONS.filter((migration) => migration.version > version);
    for (const statement of due.flatMap((migration) => upStatements(migration, name))) yield* together([statement]);
  } finally {
    yield* dialect.lock.release();
  }
}

function* currentVersion(): Work<number> {
  try {
    const [row] = yield* query<{ version: number | null }>(VERSION);
    return row?.version ?? 0;
  } catch (error) {
    const { errno, message } = error as { errno?: number; message?: string };
    if (errno === 1146 || message?.startsWith('no such table')) return 0;
    throw error;
  }
}
