import type { DataSource } from 'typeorm';

/** Ids of the jobs that no open transaction has locked, by asking for them all and passing over what is locked. */
export async function freeJobs(dataSource: DataSource): Promise<number[]> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction('READ COMMITTED');
  try {
    const rows = (await runner.query(
      'SELECT id FROM sql_queue_jobs FORCE INDEX (PRIMARY) ORDER BY id FOR UPDATE SKIP LOCKED',
    )) as { id: number }[];
    return rows.map(({ id }) => Number(id));
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}
