import type { DataSource } from 'typeorm';

/** The ids of the jobs that no open transaction locks. */
export function readUnlockedJobs(dataSource: DataSource): Promise<number[]> {
  return readUnlockedRows(dataSource, 'jobs');
}

/** The ids of the unlocked rows of a table. It selects all rows with SKIP LOCKED. */
export async function readUnlockedRows(dataSource: DataSource, table: 'jobs' | 'claims'): Promise<number[]> {
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
