import type { DataSourceOptions, MigrationInterface, QueryRunner } from 'typeorm';
import { mysql } from '../dialects/mysql.js';
import { sqlite } from '../dialects/sqlite.js';
import { Templates } from '../sql/template.js';
import { withArchive, type ArchiveOptions } from '../archive.js';
import { DEFAULT_PREFIX, tableNames, tablesOn } from '../tables.js';
import { ARCHIVE_TABLE } from './archive-table.js';
import { MIGRATIONS, upStatements } from './migrations.js';

/**
 * The library's tables as TypeORM migrations, for applications that keep all of their schema in the `migrations` of their
 * DataSource. Give the module `schema: { migrate: 'check' }` beside them.
 *
 * @example new DataSource({ …, migrations: [...sqlQueueMigrations(), 'dist/migrations/*.js'] })
 */
export function sqlQueueMigrations({
  prefix = DEFAULT_PREFIX,
  archive,
}: { prefix?: string; archive?: ArchiveOptions } = {}): (new () => MigrationInterface)[] {
  const names = withArchive(tableNames(prefix), archive);
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
  return archive ? [...own, archiveMigration(names)] : own;
}

/** After all others, since its columns are those of the history. */
function archiveMigration(names: Readonly<Record<string, string>>): new () => MigrationInterface {
  const templatesOf = (runner: QueryRunner) => new Templates(tablesOn(optionsOf(runner), names), '', () => 0);
  return class implements MigrationInterface {
    readonly name = `CreateSqlQueueArchive_${names.archive}1790000000001`;

    async up(runner: QueryRunner): Promise<void> {
      for (const sql of ARCHIVE_TABLE[dialectOf(runner)])
        await runner.query(templatesOf(runner).bind({ sql, values: {} }).text);
    }

    async down(runner: QueryRunner): Promise<void> {
      await runner.query(templatesOf(runner).bind({ sql: 'DROP TABLE IF EXISTS {archive}', values: {} }).text);
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
