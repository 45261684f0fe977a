import type { DataSource } from 'typeorm';

/** Inserts jobs of two queues in all states, claims and history. None of them becomes due. */
export async function fillTables(source: DataSource, size: number): Promise<void> {
  const digits =
    '(SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)';
  const numbers = `(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n
    FROM ${digits} a, ${digits} b, ${digits} c, ${digits} e, ${digits} f LIMIT ${size}) AS numbers`;
  const far = '4000000000000';
  await source.query(`
    INSERT INTO sql_queue_jobs (queue, state, runnable, claim_id, run_at, priority, payload)
    SELECT IF(n % 5 = 0, 'other', 'q'), ELT(1 + n % 3, 'waiting', 'active', 'scheduled'), n % 3 < 2,
           IF(n % 3 = 1, n DIV 30 + 1, 0), IF(n % 3 = 2, ${far}, NULL), n % 4, REPEAT('x', 100)
    FROM ${numbers}`);
  await source.query(`
    INSERT INTO sql_queue_claims (id, worker_id, queue, job_ids, start_limit, lease_ms, lease_until, claimed_at)
    SELECT n + 1, 'w', 'q', '[1]', 1, 1000, ${far}, 0 FROM ${numbers} WHERE n % 10 = 0`);
  await source.query(`
    INSERT INTO sql_queue_history (id, queue, name, state, priority, attempt, created_at, finished_at, expires_at, payload)
    SELECT n + 1000000, 'q', 'n', 'completed', 0, 1, 0, 0, ${far}, REPEAT('x', 100) FROM ${numbers}`);
  await source.query(`
    INSERT INTO sql_queue_workers (id, host, pid, queues, started_at, seen_at)
    SELECT n, 'h', 1, '{}', 0, ${far} FROM ${numbers} WHERE n % 100 = 0`);
  await source.query(`
    INSERT INTO sql_queue_queues (queue, created_at, expires_after_ms, used_at)
    SELECT CONCAT('queue-', n), 0, IF(n % 20 = 0, 1000, NULL), ${far} FROM ${numbers} WHERE n % 10 = 0`);
  await source.query(`
    INSERT INTO sql_queue_subscriptions (queue, topic, created_at)
    SELECT CONCAT('queue-', n - n % 10), CONCAT('topic-', n % 10), 0 FROM ${numbers}`);
  await source.query(`
    INSERT INTO sql_queue_keys (queue, key_hash, job_id, kept_until)
    SELECT IF(n % 2 = 0, 'other', 'q'), SHA2(n, 256), n, ${far} FROM ${numbers}`);
  await source.query(`
    INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id)
    SELECT IF(n % 2 = 0, 'other', 'grouped'), CONCAT('far-', n), IF(n % 4 < 2, 'blocked', 'paused'), ${far}, 0, 0 FROM ${numbers}`);
  await source.query(`
    INSERT INTO sql_queue_edges (job_id, needs, queue, name, on_failure, state)
    SELECT n DIV 10 + 2000000, n + 3000000, 'q', 'n', 'cancel', ELT(1 + n % 3, 'open', 'done', 'failed') FROM ${numbers}`);
  await source.query(`
    INSERT INTO sql_queue_flows (created_at, expires_at) SELECT 0, ${far} FROM ${numbers}`);
  await source.query(`
    INSERT INTO sql_queue_commit_log (id, number, first_id, id_step, seen_at)
    SELECT n, 1, 1, 1, ${far} FROM ${numbers} WHERE n % 10 = 0`);
}
