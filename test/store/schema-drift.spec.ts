import type { DataSource, EntityMetadata, Table } from 'typeorm';
import { sqlQueueArchiveEntity, sqlQueueEntities } from '../../lib/store/tables/entities.js';
import type { SqlQueueJobRow } from '../../lib/store/tables/job-tables.js';
import { sqlQueueMigrations } from '../../lib/store/databases/typeorm-migrations.js';
import { archivedTo } from '../support/archives.js';
import { finalBatchOf, newJob } from '../support/jobs.js';
import { describeStoresOf } from '../support/stores.js';

interface Shape {
  columns: { name: string; type: string; nullable: boolean; primary: boolean; filledIn: boolean }[];
  indexes: { name: string; columns: string[] }[];
}

/** Normalises column types: SQLite has one integer type, and TypeORM has no common name for LONGTEXT and CHAR. */
function typeOf(type: unknown, dataSource: DataSource, length?: string): string {
  const name = (typeof type === 'string' ? type : 'unknown').toLowerCase();
  const plain = name.replace('longtext', 'text').replace(/^char$/, 'varchar');
  if (plain === 'integer') return 'bigint';
  return plain === 'varchar' ? `varchar(${length})` : plain;
}

function byName<T extends { name: string }>(items: T[]): T[] {
  return [...items].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function shapeOfEntity(metadata: EntityMetadata, dataSource: DataSource): Shape {
  return {
    columns: metadata.columns.map((column) => ({
      name: column.databaseName,
      type: typeOf(column.type, dataSource, column.length),
      nullable: column.isNullable,
      primary: column.isPrimary,
      filledIn: column.default !== undefined || (!column.isInsert && !column.isNullable),
    })),
    indexes: byName(
      metadata.indices.map(({ name, columns }) => ({ name, columns: columns.map((c) => c.databaseName) })),
    ),
  };
}

const isSqlite = (dataSource: DataSource) => dataSource.options.type === 'better-sqlite3';

/** Returns the indexes with ordered columns, which TypeORM reads in no defined order. */
async function indexesOf(dataSource: DataSource, table: string): Promise<Shape['indexes']> {
  const sql = isSqlite(dataSource)
    ? `SELECT i.name AS name, c.name AS part FROM pragma_index_list(?) i, pragma_index_info(i.name) c
       WHERE i.origin = 'c' ORDER BY i.name, c.seqno`
    : `SELECT INDEX_NAME AS name, COLUMN_NAME AS part FROM information_schema.statistics
       WHERE table_schema = DATABASE() AND table_name = ? AND index_name <> 'PRIMARY'
       ORDER BY index_name, seq_in_index`;
  const indexes = new Map<string, string[]>();
  for (const { name, part } of await dataSource.query<{ name: string; part: string }[]>(sql, [table])) {
    indexes.set(name, [...(indexes.get(name) ?? []), part]);
  }
  return Array.from(indexes, ([name, columns]) => ({ name, columns }));
}

async function columnOrder(dataSource: DataSource, table: string): Promise<string[]> {
  const sql = isSqlite(dataSource)
    ? 'SELECT name FROM pragma_table_info(?)'
    : `SELECT COLUMN_NAME AS name FROM information_schema.columns
         WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position`;
  return (await dataSource.query<{ name: string }[]>(sql, [table])).map(({ name }) => name);
}

async function shapeOfTable(table: Table, dataSource: DataSource): Promise<Shape> {
  const name = table.name.split('.').at(-1)!;
  const order = await columnOrder(dataSource, name);
  const columns = order.map((each) => table.columns.find((column) => column.name === each)!);
  return {
    columns: columns.map((column) => ({
      name: column.name,
      type: typeOf(column.type, dataSource, column.length),
      nullable: column.isNullable,
      primary: column.isPrimary,
      filledIn: column.default !== undefined && column.default !== null && column.default !== 'NULL',
    })),
    indexes: byName(await indexesOf(dataSource, name)),
  };
}

// An in-memory database has no second connection, and the same tables as one in a file.
describeStoresOf(['mysql', 'mariadb', 'sqlite'], 'the entities', (setup) => {
  it('match the tables of the migrations', async () => {
    const { connect } = await setup();
    const dataSource = await connect({ entities: [...sqlQueueEntities()] });
    const runner = dataSource.createQueryRunner();
    try {
      for (const metadata of dataSource.entityMetadatas) {
        const table = (await runner.getTable(metadata.tablePath))!;

        expect([metadata.name, shapeOfEntity(metadata, dataSource)]).toEqual([
          metadata.name,
          await shapeOfTable(table, dataSource),
        ]);
      }
    } finally {
      await runner.release();
    }
  });

  it('can be read with repositories, integers as numbers', async () => {
    const { connect, put, claim } = await setup();
    const dataSource = await connect({ entities: [...sqlQueueEntities()] });
    const [id] = await put({ delayMs: 60_000 }, {});
    const taken = await claim();
    const jobs = dataSource.getRepository<SqlQueueJobRow>('SqlQueueJob');

    const found = await jobs.findOneByOrFail({ id: id! });

    expect(found).toMatchObject({ id, queue: 'q', state: 'scheduled', runnable: 0, claimId: null });
    expect(found.runAt! - found.createdAt).toBe(60_000);
    expect((await jobs.findOneByOrFail({ state: 'active' })).claimId).toBe(taken.id);
  });

  it('can be read in every state of a job', async () => {
    const { connect, put, claim, jobs, workers } = await setup();
    const [id] = await put({});
    await workers.register({ id: 'w', host: 'h', pid: 1, queues: new Map([['q', 1]]) });
    const dataSource = await connect({ entities: [...sqlQueueEntities()] });
    const taken = await claim();
    const claims = await dataSource.getRepository('SqlQueueClaim').find();

    await jobs.complete(finalBatchOf(taken));

    expect(claims).toMatchObject([{ id: taken.id, workerId: 'worker-1', jobIds: `[${id}]`, leaseMs: 30_000 }]);
    expect(await dataSource.getRepository('SqlQueueHistory').find()).toMatchObject([{ id, state: 'completed' }]);
    expect(await dataSource.getRepository('SqlQueueQueue').find()).toMatchObject([{ queue: 'q', paused: 0 }]);
    expect(await dataSource.getRepository('SqlQueueWorker').find()).toMatchObject([{ id: 'w', queues: '{"q":1}' }]);
  });

  it('create a complete job from an insert', async () => {
    const { connect, claim } = await setup();
    const dataSource = await connect({ entities: [...sqlQueueEntities()] });

    await dataSource.getRepository<SqlQueueJobRow>('SqlQueueJob').insert({ queue: 'q', payload: '{"a":1}' });

    expect((await claim()).jobs).toMatchObject([{ name: 'default', payload: '{"a":1}', attempt: 1, priority: 0 }]);
  });

  it.each(['the library', 'TypeORM'])(
    'use the entityPrefix of their DataSource, with tables created by %s',
    async (who) => {
      const { connect, open } = await setup();
      const migrations = who === 'TypeORM' ? sqlQueueMigrations({ archive: { to: 'kept' } }) : [];
      const entities = [...sqlQueueEntities(), sqlQueueArchiveEntity({ to: 'kept' })];
      const dataSource = await connect({ entityPrefix: `app_${who.length}_`, entities, migrations });
      if (who === 'TypeORM') await dataSource.runMigrations();

      const store = await open({
        dataSource,
        archives: archivedTo('kept'),
        migrate: who === 'TypeORM' ? 'check' : 'run',
      });
      const [id] = await store.jobs.enqueue([newJob()]);

      expect(await dataSource.getRepository('SqlQueueJob').find()).toMatchObject([{ id }]);
      for (const { name } of dataSource.entityMetadatas) await dataSource.getRepository(name).find();
    },
  );

  it('are unchanged by a DataSource that synchronizes', async () => {
    const { connect, put } = await setup();
    await put({});
    const dataSource = await connect({ entities: [...sqlQueueEntities()] });
    const before = await shapes(dataSource);

    await dataSource.synchronize();

    expect(await shapes(dataSource)).toEqual(before);
    expect(await dataSource.getRepository('SqlQueueJob').count()).toBe(1);
    expect((await dataSource.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
  });

  async function shapes(dataSource: DataSource): Promise<unknown[]> {
    const tables = dataSource.entityMetadatas.map(({ tableName }) => tableName);
    return Promise.all(
      tables.map((table) =>
        isSqlite(dataSource)
          ? dataSource.query('SELECT sql FROM sqlite_master WHERE tbl_name = ? ORDER BY name', [table])
          : dataSource.query(`SHOW CREATE TABLE ${table}`),
      ),
    );
  }
});

describeStoresOf(['mysql', 'mariadb'], 'each table', (setup) => {
  // With COMPACT or REDUNDANT, a server may have shorter keys than the indexes of the library need.
  it('has the row format DYNAMIC, whatever the server’s default is', async () => {
    const { open, sql } = await setup();
    await open({ archives: archivedTo('kept_dynamic') });

    const tables = await sql<{ name: string; options: string }>(`
      SELECT TABLE_NAME AS name, CREATE_OPTIONS AS options
      FROM information_schema.tables
      WHERE table_schema = DATABASE() AND (table_name LIKE 'sql\\_queue\\_%' OR table_name = 'kept_dynamic')`);

    expect(tables.length).toBeGreaterThan(20);
    expect(tables.filter(({ options }) => !/row_format=dynamic/i.test(options))).toEqual([]);
  });
});

describe('the entities of a prefix', () => {
  it('are the same objects in every call', () => {
    const areSame = (a: object[], b: object[]) => a.every((entity, index) => entity === b[index]);

    expect(areSame(sqlQueueEntities({ prefix: 'mine_' }), sqlQueueEntities({ prefix: 'mine_' }))).toBe(true);
    expect(areSame(sqlQueueEntities(), sqlQueueEntities({ prefix: 'sql_queue_' }))).toBe(true);
  });

  it('have their own names and tables', () => {
    const [mine] = sqlQueueEntities({ prefix: 'mine_' });
    const [ours] = sqlQueueEntities();

    expect(mine!.options).toMatchObject({ name: 'SqlQueueJob_mine_', tableName: 'mine_jobs', synchronize: false });
    expect(ours!.options).toMatchObject({ name: 'SqlQueueJob', tableName: 'sql_queue_jobs', synchronize: false });
  });
});
