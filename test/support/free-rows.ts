import type { DataSource } from 'typeorm';

/** Ids of the jobs that no open transaction has locked. */
export function freeJobs(dataSource: DataSource): Promise<number[]> {
  return freeRows(dataSource, 'jobs');
}

/** The same of either table, by asking for all rows and passing over what is locked. */
export async function freeRows(dataSource: DataSource, table: 'jobs' | 'claims'): Promise<number[]> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction('READ COMMITTED');
  try {
    const rows = (await runner.query(
      `SELECT id FROM sql_queue_${table} FORCE INDEX (PRIMARY) ORDER BY id FOR UPDATE SKIP LOCKED`,
    )) as { id: number }[];
    return rows.map(({ id }) => Number(id));
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}
