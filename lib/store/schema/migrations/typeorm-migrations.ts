import type { DataSourceOptions, MigrationInterface, QueryRunner } from 'typeorm';
import { mysql } from '../../mysql/mysql.js';
import { sqlite } from '../../sqlite/sqlite.js';
import { Templates } from '../../core/template.js';
import { InvalidOptionsError } from '../../../job/errors.js';
import { archiveProblems, inArchive, withArchives, type ArchiveOptions } from '../archive-options.js';
import { DEFAULT_PREFIX, tableNames, tablesOn } from '../../tables.js';
import { ARCHIVE_TABLE } from './archive-table.js';
import { MIGRATIONS, upStatements, type SchemaDialect } from './migrations.js';

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
  const tablesOf = (runner: QueryRunner) => tablesOn(optionsOf(runner), names);
  const own = MIGRATIONS.map((migration) => {
    const name = prefix === DEFAULT_PREFIX ? migration.name : `${prefix}${migration.name}`;
    return class implements MigrationInterface {
      readonly name = name;

      async up(runner: QueryRunner): Promise<void> {
        const dialect = dialectOf(runner);
        const templates = new Templates(tablesOf(runner), (dialect === 'sqlite' ? sqlite : mysql).now, () => 0);
        for (const statement of upStatements(migration, dialect)) {
          const { text, values } = templates.bind(statement);
          await runner.query(text, [...values]);
        }
      }

      async down(runner: QueryRunner): Promise<void> {
        const templates = new Templates(tablesOf(runner), '', () => 0);
        for (const sql of migration.down) await runner.query(templates.bind({ sql, values: {} }).text);
      }
    };
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
  const templatesOf = (runner: QueryRunner) => new Templates(tablesOn(optionsOf(runner), names), '', () => 0);
  return class implements MigrationInterface {
    readonly name = `CreateSqlQueueArchive_${to}1790000000001`;

    async up(runner: QueryRunner): Promise<void> {
      for (const sql of ARCHIVE_TABLE[dialectOf(runner)])
        await runner.query(templatesOf(runner).bind({ sql: inArchive(sql, to), values: {} }).text);
    }

    async down(runner: QueryRunner): Promise<void> {
      const sql = inArchive('DROP TABLE IF EXISTS {archive}', to);
      await runner.query(templatesOf(runner).bind({ sql, values: {} }).text);
    }
  };
}

// In TypeORM 0.3 the DataSource is the property `connection`.
function optionsOf(runner: QueryRunner): DataSourceOptions {
  return (runner.dataSource ?? runner.connection).options;
}

function dialectOf(runner: QueryRunner): SchemaDialect {
  return optionsOf(runner).type === 'better-sqlite3' ? 'sqlite' : 'mysql';
}
