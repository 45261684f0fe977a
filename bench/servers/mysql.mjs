import { createConnection } from 'mysql2/promise';

const VARIABLES = [
  'innodb_flush_log_at_trx_commit',
  'sync_binlog',
  'log_bin',
  'innodb_doublewrite',
  'innodb_flush_method',
  'innodb_buffer_pool_size',
];

export const mysql = kind('mysql', 'MySQL', ['innodb_redo_log_capacity']);
export const mariadb = kind('mariadb', 'MariaDB', ['innodb_log_file_size']);

function kind(id, title, more) {
  return {
    id,
    title,
    script: `${id}-up.sh`,
    profile: 'durable',
    async open(port) {
      const base = `mysql://root@127.0.0.1:${port}/`;
      const connection = await createConnection(base);
      const one = async (sql) => (await connection.query(sql))[0][0];
      const { version } = await one('SELECT VERSION() AS version');
      const shown = [...VARIABLES, ...more].map((name) => `@@${name} AS ${name}`);
      const settings = await one(`SELECT ${shown.join(', ')}`);
      return {
        version,
        settings,
        async create(name) {
          await connection.query(`CREATE DATABASE ${name}`);
          return base.replace('mysql:', `${id}:`) + name;
        },
        drop: (name) => connection.query(`DROP DATABASE IF EXISTS ${name}`),
        /** Updates the statistics that the tables of a longer-running server have. */
        async analyze(name) {
          const [tables] = await connection.query(
            'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ?',
            [name],
          );
          if (tables.length === 0) return;
          await connection.query(`ANALYZE TABLE ${tables.map((table) => `${name}.${table.name}`)}`);
        },
        /** The number of client statements so far, without this one. */
        async statements() {
          const { Value: questions } = await one(`SHOW GLOBAL STATUS LIKE 'Questions'`);
          return Number(questions);
        },
        ownStatements: 1,
        /** Changed pages that are not yet written to their files. */
        async unwrittenPages() {
          const { Value: pages } = await one(`SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'`);
          return Number(pages);
        },
        /** Opens a transaction with a snapshot of the database, until the returned function is called. */
        async snapshot(name) {
          const reader = await createConnection(base + name);
          await reader.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
          await reader.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
          return async () => {
            await reader.query('ROLLBACK');
            await reader.end();
          };
        },
        close: () => connection.end(),
      };
    },
  };
}
