import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isAppliedBefore } from '../core/classify-error.js';
import type { Statement } from '../core/statement.js';
import { Templates } from '../core/template.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { archiveProblems, inArchive, withArchives, type ArchiveOptions } from '../tables/archive-options.js';
import { DEFAULT_PREFIX, tableNames, tablesOn } from '../tables/table-names.js';
import type { DatabaseSchema } from '../schema/database-schema.js';
import { MIGRATIONS } from '../schema/migrations.js';
import { databaseOf } from './index.js';

/**
 * The library's tables as TypeORM migrations, for applications that keep their whole schema in the `migrations` of
 * their DataSource. Set the module's option `schema: { migrate: 'check' }` beside them.
 *
 * @param options.prefix of the table names: 1 to 40 of the characters A-Z a-z 0-9 _; default `sql_queue_`
 * @param options.archive the archive of the module, or those of all queues; default: none
 * @throws InvalidOptionsError if the prefix or the name of an archive has other characters
 * @example new DataSource({ …, migrations: [...sqlQueueMigrations(), 'dist/migrations/*.js'] })
 */
export function sqlQueueMigrations({
  prefix = DEFAULT_PREFIX,
  archive,
}: { prefix?: string; archive?: ArchiveOptions | readonly ArchiveOptions[] } = {}): (new () => MigrationInterface)[] {
  const archives = archiveTables(archive);
  const names = withArchives(tableNames(prefix), archives);
  const own = MIGRATIONS.map(({ version, name: ownName }) => {
    const name = prefix === DEFAULT_PREFIX ? ownName : `${prefix}${ownName}`;
    // A database whose schema began later has no statements for earlier versions.
    const of = (schema: DatabaseSchema) => schema.migrations().find((each) => each.version === version);
    return migrationOf(
      name,
      names,
      (schema) => of(schema)?.up ?? [],
      (schema) => of(schema)?.down ?? [],
    );
  });
  return [...own, ...archives.map((to) => archiveMigration(names, to))];
}

function archiveTables(archive: ArchiveOptions | readonly ArchiveOptions[] = []): string[] {
  const given = Array.isArray(archive) ? (archive as readonly ArchiveOptions[]) : [archive as ArchiveOptions];
  InvalidOptionsError.throwIfAny('Invalid archive', given.flatMap(archiveProblems));
  return [...new Set(given.map(({ to }) => to))];
}

/** Runs after all other migrations, because the archive has the columns of the history. */
function archiveMigration(names: Readonly<Record<string, string>>, to: string): new () => MigrationInterface {
  const up = (schema: DatabaseSchema) => schema.createArchive().map((sql) => ({ sql: inArchive(sql, to), values: {} }));
  const down = () => [{ sql: inArchive('DROP TABLE IF EXISTS {archive}', to), values: {} }];
  return migrationOf(`CreateSqlQueueArchive_${to}1799999999999`, names, up, down);
}

function migrationOf(
  name: string,
  names: Readonly<Record<string, string>>,
  up: (schema: DatabaseSchema) => readonly Statement[],
  down: (schema: DatabaseSchema) => readonly Statement[],
): new () => MigrationInterface {
  const run = async (runner: QueryRunner, statementsOn: typeof up) => {
    // In TypeORM 0.3 the DataSource is the property `connection`.
    const { options } = runner.dataSource ?? runner.connection;
    const { dialect, schema } = databaseOf(options.type);
    const templates = new Templates(tablesOn(options, names), dialect);
    const bound = statementsOn(schema).map((statement) => templates.bind(statement));
    for (const { text, values } of bound) {
      await runner.query(text, [...values]).catch((error: unknown) => {
        if (!isAppliedBefore(error)) throw error;
      });
    }
  };
  return class implements MigrationInterface {
    readonly name = name;

    up(runner: QueryRunner): Promise<void> {
      return run(runner, up);
    }

    down(runner: QueryRunner): Promise<void> {
      return run(runner, down);
    }
  };
}
