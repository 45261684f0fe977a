import type { Connection, RowDataPacket } from 'mysql2/promise';
import type { TimedOut } from '../history-checker.js';

const TABLE = `
  CREATE TABLE timed_out (
    id BIGINT AUTO_INCREMENT PRIMARY KEY,
    job_id BIGINT NOT NULL,
    attempt INT NOT NULL
  )`;

// Runs in the transaction of the outcome. A rescue stores another error, and a release takes the attempt back.
const TRIGGER = `
  CREATE TRIGGER note_timeouts AFTER UPDATE ON sql_queue_jobs FOR EACH ROW
  INSERT INTO timed_out (job_id, attempt)
  SELECT NEW.id, NEW.attempt FROM DUAL
  WHERE OLD.claim_id <> 0 AND NEW.claim_id = 0 AND NEW.attempt = OLD.attempt AND NEW.error LIKE '%"JOB_TIMEOUT"%'`;

/** Records each attempt that ends by its timeout in the database. The worker may receive that answer much later. */
export async function recordTimeouts(admin: Connection): Promise<void> {
  await admin.query(TABLE);
  await admin.query(TRIGGER);
}

export async function readTimeouts(admin: Connection): Promise<TimedOut[]> {
  const [rows] = await admin.query<RowDataPacket[]>('SELECT DISTINCT job_id, attempt FROM timed_out');
  return rows.map(({ job_id, attempt }) => ({ job: Number(job_id), attempt: Number(attempt) }));
}
