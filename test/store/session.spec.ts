import { randomBytes } from 'node:crypto';
import { MysqlPool } from '../../lib/store/dialects/mysql-pool.js';
import { mysql } from '../../lib/store/dialects/mysql.js';
import { query } from '../../lib/store/sql/statement.js';
import { Templates } from '../../lib/store/sql/template.js';
import { tableNames } from '../../lib/store/tables.js';
import { systemClock } from '../../lib/time/clock.js';
import { describeStoresOf, type World } from '../support/stores.js';

const ROW_IMAGE = 'SELECT @@SESSION.binlog_row_image AS image';

describeStoresOf(['mysql', 'mariadb'], 'the library’s own connections', (setup) => {
  it('keep payloads out of the binary log where they may', async () => {
    const { connect } = await setup();

    expect(await rowImages(await connect())).toEqual(['MINIMAL', 'MINIMAL']);
  });

  it('do without the privilege for that', async () => {
    const world = await setup();

    expect(await rowImages(await world.connect(await plainAccount(world)))).toEqual(['FULL', 'FULL']);
  });

  /** Of two connections, open at the same time. */
  async function rowImages(dataSource: Parameters<typeof MysqlPool.open>[0]): Promise<unknown[]> {
    const pool = await MysqlPool.open(dataSource, new Templates(tableNames(), mysql.now, () => 0), systemClock, 30_000);
    const borrowed = [await pool.borrow(), await pool.borrow()];
    const rows = await Promise.all(borrowed.map(({ send }) => send(() => query<{ image: string }>(ROW_IMAGE))));
    borrowed.forEach(({ drop }) => drop());
    await pool.close();
    return rows.map(([row]) => row!.image);
  }

  async function plainAccount({ sql, dataSource }: World) {
    const account = `plain_${randomBytes(4).toString('hex')}`;
    const { database } = dataSource.driver as { database?: string };
    await sql(`CREATE USER '${account}'@'%'`);
    accounts.push(() => sql(`DROP USER '${account}'@'%'`));
    await sql(`GRANT ALL ON ${database}.* TO '${account}'@'%'`);
    const url = new URL((dataSource.options as { url: string }).url);
    url.username = account;
    return { url: url.href };
  }
});

const accounts: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const drop of accounts.splice(0)) await drop();
});
