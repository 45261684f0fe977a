import { Client } from 'pg';

const CHUNK = 100_000;

/** Runs queries that the contestant's API does not offer, on a separate connection. */
export async function withPostgres(url, work) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work((sql, values) => client.query(sql, values).then(({ rows }) => rows));
  } finally {
    await client.end();
  }
}

/**
 * Copies a row that the contestant itself has written `count` times and deletes the row. SQL expressions replace the
 * columns of `set`; in them `n` counts from `from`.
 */
export function cloneRow(url, { schema, table, where, set, from, count }) {
  return withPostgres(url, async (query) => {
    const columns = await query(
      `SELECT column_name AS name FROM information_schema.columns
       WHERE table_schema = $1 AND table_name = $2 AND is_generated = 'NEVER'
         AND NOT (is_identity = 'YES' AND identity_generation = 'ALWAYS')`,
      [schema, table],
    );
    const names = columns.map(({ name }) => name);
    const values = names.map((name) => set[name] ?? `row.${name}`);
    for (let done = 0; done < count; done += CHUNK) {
      const last = from + Math.min(count, done + CHUNK) - 1;
      await query(
        `INSERT INTO ${schema}.${table} (${names}) SELECT ${values}
         FROM ${schema}.${table} AS row, generate_series(${from + done}, ${last}) AS n WHERE ${where}`,
      );
    }
    await query(`DELETE FROM ${schema}.${table} AS row WHERE ${where}`);
  });
}

/** SQL for a payload with the index `n`. */
export function payloadSql(payload) {
  const [head, tail] = JSON.stringify(payload).split(':-1,');
  return `('${head}:' || n || ',${tail}')`;
}
