// The connection of scripts that measure a server.
import { DataSource } from 'typeorm';
import { sqlQueueMigrations } from '../dist/index.js';

/** TypeORM's options for `mysql://…` or `mariadb://…`. Prints an error and ends the process for any other URL. */
export function connectionTo(url) {
  const type = /^(mysql|mariadb):\/\/./.exec(url ?? '')?.[1];
  if (!type) {
    console.error(`expected --url mysql://user@host:port/database or mariadb://…, got ${url ?? 'none'}`);
    process.exit(2);
  }
  return { type, url: url.replace(/^mariadb/, 'mysql') };
}

/** The server with its version, as reports name it. */
export function versionOf(connection) {
  return connected(connection, async (dataSource) => {
    const [{ version }] = await dataSource.query('SELECT VERSION() AS version');
    return `${connection.type} ${version}`;
  });
}

/** Drops the tables that the migrations have created. */
export function dropTables(connection, prefix) {
  return connected(connection, async (dataSource) => {
    const runner = dataSource.createQueryRunner();
    for (const Migration of sqlQueueMigrations({ prefix }).reverse()) await new Migration().down(runner);
    await runner.release();
  });
}

async function connected(connection, act) {
  const dataSource = await new DataSource(connection).initialize();
  try {
    return await act(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
