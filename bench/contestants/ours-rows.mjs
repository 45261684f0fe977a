import { createRequire } from 'node:module';

/**
 * Opens a separate connection to the library's tables, for reads that its API does not offer or that it answers too
 * broadly.
 */
export function openRows(url) {
  return new URL(url).protocol === 'sqlite:' ? openSqlite(url) : openMysql(url);
}

async function openMysql(url) {
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection(url.replace(/^mariadb:/, 'mysql:'));
  return {
    run: (sql, values) => connection.query(sql, values),
    all: async (sql, values) => (await connection.query(sql, values))[0],
    close: () => connection.end(),
  };
}

async function openSqlite(url) {
  const Database = createRequire(import.meta.url)('better-sqlite3');
  const handle = new Database(new URL(url).pathname);
  return {
    run: async (sql, values) => handle.prepare(sql).run(...values),
    all: async (sql, values) => handle.prepare(sql).all(...values),
    close: async () => handle.close(),
  };
}
