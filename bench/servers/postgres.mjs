import { Client } from 'pg';

const VARIABLES = ['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size', 'autovacuum'];

export const postgres = {
  id: 'postgres',
  title: 'PostgreSQL',
  script: 'postgres-up.sh',
  profile: 'durable',
  // SIGKILL would leave its shared memory behind.
  stopSignal: 'SIGINT',
  async open(port) {
    const base = `postgres://postgres@127.0.0.1:${port}/`;
    const connection = await connect(`${base}postgres`);
    const one = async (sql, values) => (await connection.query(sql, values)).rows[0];
    const { version } = await one('SHOW server_version').then((row) => ({ version: row.server_version }));
    const settings = {};
    for (const name of VARIABLES) settings[name] = Object.values(await one(`SHOW ${name}`))[0];
    return {
      version,
      settings,
      async create(name) {
        await connection.query(`CREATE DATABASE ${name}`);
        return base + name;
      },
      drop: (name) => connection.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      async analyze(name) {
        const here = await connect(base + name);
        await here.query('VACUUM ANALYZE');
        await here.end();
      },
      /** The number of transactions in the database so far; PostgreSQL counts no statements without an extension. */
      async statements(name) {
        const counts = await one('SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = $1', [
          name,
        ]);
        return Number(counts.n);
      },
      ownStatements: 0,
      async snapshot(name) {
        const reader = await connect(base + name);
        await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
        await reader.query('SELECT 1');
        return async () => {
          await reader.query('ROLLBACK');
          await reader.end();
        };
      },
      close: () => connection.end(),
    };
  },
};

async function connect(connectionString) {
  const client = new Client({ connectionString });
  client.on('error', () => {}); // The database may be dropped while the client is connected.
  await client.connect();
  return client;
}
