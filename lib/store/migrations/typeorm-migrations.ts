import type { DataSourceOptions, MigrationInterface, QueryRunner } from 'typeorm';
import { mysql } from '../dialects/mysql.js';
import { sqlite } from '../dialects/sqlite.js';
import { Templates } from '../sql/template.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { archiveProblems, inArchive, withArchives, type ArchiveOptions } from '../archive.js';
import { DEFAULT_PREFIX, tableNames, tablesOn } from '../tables.js';
import { ARCHIVE_TABLE } from './archive-table.js';
import { MIGRATIONS, upStatements } from './migrations.js';

/**
 * The library's tables as TypeORM migrations, for applications that keep all of their schema in the `migrations` of their
 * DataSource. Give the module `schema: { migrate: 'check' }` beside them.
 *
 * @param options.archive the module's archive, or those of all queues: a table for each
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

/** After all others, since its columns are those of the history. */
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

// TypeORM 0.3 knows the DataSource as `connection`.
function optionsOf(runner: QueryRunner): DataSourceOptions {
  return (runner.dataSource ?? runner.connection).options;
}

function dialectOf(runner: QueryRunner) {
  return optionsOf(runner).type === 'better-sqlite3' ? 'sqlite' : 'mysql';
}
