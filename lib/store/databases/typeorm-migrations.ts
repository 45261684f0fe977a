import type { MigrationInterface, QueryRunner } from 'typeorm';
import { mysql } from './mysql/mysql.js';
import { sqlite } from './sqlite/sqlite.js';
import type { Dialect } from '../core/sql-database.js';
import { isAppliedBefore } from '../core/classify-error.js';
import type { Statement } from '../core/statement.js';
import { Templates } from '../core/template.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { archiveProblems, inArchive, withArchives, type ArchiveOptions } from '../tables/archive-options.js';
import { DEFAULT_PREFIX, tableNames, tablesOn } from '../tables/table-names.js';
import { createArchive, MIGRATIONS, upStatements, downStatements } from '../schema/migrations.js';

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
  const own = MIGRATIONS.map((migration) => {
    const name = prefix === DEFAULT_PREFIX ? migration.name : `${prefix}${migration.name}`;
    return migrationOf(
      name,
      names,
      (dialect) => upStatements(migration, dialect),
      (dialect) => downStatements(migration, dialect),
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
  const up = (dialect: Dialect['name']) =>
    createArchive(dialect).map((sql) => ({ sql: inArchive(sql, to), values: {} }));
  const down = () => [{ sql: inArchive('DROP TABLE IF EXISTS {archive}', to), values: {} }];
  return migrationOf(`CreateSqlQueueArchive_${to}1799999999999`, names, up, down);
}

function migrationOf(
  name: string,
  names: Readonly<Record<string, string>>,
  up: (dialect: Dialect['name']) => readonly Statement[],
  down: (dialect: Dialect['name']) => readonly Statement[],
): new () => MigrationInterface {
  const run = async (runner: QueryRunner, statementsOn: typeof up) => {
    // In TypeORM 0.3 the DataSource is the property `connection`.
    const { options } = runner.dataSource ?? runner.connection;
    const dialect = options.type === 'better-sqlite3' ? sqlite : mysql;
    const templates = new Templates(tablesOn(options, names), dialect);
    const bound = statementsOn(dialect.name).map((statement) => templates.bind(statement));
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
