-- `npm run golden` writes this file. `?` is a value, `:now` the clock of the server. A list has one value.
-- It leaves the sections "at times" alone: their statements depend on the time or on a race.

-- :now
(CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) + ?)
;

-- admin.cancel

  DELETE FROM sql_queue_claims
  WHERE id = ?
;

  DELETE FROM sql_queue_jobs
  WHERE (id IN (?)) AND claim_id = ?
;

  DELETE FROM sql_queue_stages
  WHERE job_id = ?
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?, ?, ?)
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT queue, claim_id
  FROM sql_queue_jobs
  WHERE id = ?
;

  SELECT worker_id, cancel_requests, owner, job_ids, start_limit
  FROM sql_queue_claims 
  WHERE id = ? 
;

  SELECT worker_id, owner, dead_letter, :now AS at, claimed_at, CASE WHEN lease_until > :now THEN 1 ELSE 0 END AS has_lease
  FROM sql_queue_claims 
  WHERE id = ? 
;

  UPDATE sql_queue_claims 
  SET cancel_requests = ?
  WHERE id = ?
;

-- admin.cancelIdle

  DELETE FROM sql_queue_jobs
  WHERE (id IN (?)) AND claim_id = ?
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?, ?, ?)
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)   AND h.queue = ?
  ORDER BY h.id 
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id = 0
  ORDER BY id 
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)   AND CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END = ?
  ORDER BY j.id 
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)   AND j.queue = ?
  ORDER BY j.id 
;

  UPDATE sql_queue_edges 
  SET state = CASE WHEN ? = 'completed' OR on_failure = 'run' THEN 'done' WHEN on_failure = 'wait' THEN 'open' ELSE 'failed' END, outcome = ?, result = NULL, error = NULL
  WHERE (needs IN (?)) AND state = 'open'
;

-- admin.configure

  INSERT INTO sql_queue_limits (queue)
  VALUES (?)
  ON CONFLICT (queue) DO NOTHING
;

  INSERT OR IGNORE INTO sql_queue_queues (queue, paused, created_at)
  VALUES (?, 0, :now)
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT declared, overrides, rate_until_us, rate_used, CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END AS rest_until
  FROM sql_queue_limits 
  WHERE queue = ? 
;

  SELECT paused, settings
  FROM sql_queue_queues 
  WHERE queue = ? 
;

  UPDATE sql_queue_limits 
  SET declared = ?, overrides = ?, rate_until_us = CASE WHEN ? = 1 THEN rate_until_us ELSE 0 END,
      rate_used = CASE WHEN ? = 1 THEN rate_used ELSE 0 END
  WHERE queue = ?
;

  UPDATE sql_queue_queues 
  SET paused = ?, settings = ?
  WHERE queue = ?
;

-- admin.copyOf

  SELECT queue, name, priority, max_attempts, payload, headers, options, '' AS group_key
  FROM sql_queue_history
  WHERE id = ?
;

  SELECT queue, name, priority, max_attempts, payload, headers, options, group_key
  FROM sql_queue_jobs
  WHERE id = ?
;

-- admin.counts

  SELECT id, queue, claim_id, runnable
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id <> 0
;

  SELECT id, worker_id, job_ids, start_limit
  FROM sql_queue_claims
  WHERE ? IS NULL OR queue = ?
;

  SELECT runnable, COUNT(*) AS jobs, COUNT(run_at) AS timed
  FROM sql_queue_jobs 
  WHERE ? IS NULL OR queue = ?
  GROUP BY queue, runnable
;

  SELECT state, COUNT(*) AS jobs
  FROM sql_queue_history
  GROUP BY state
;

  SELECT state, COUNT(*) AS jobs
  FROM sql_queue_history
  WHERE queue = ?
  GROUP BY state
;

-- admin.edit

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT DISTINCT job_id AS id
  FROM sql_queue_edges 
  WHERE job_id IN (?) AND fan_out > 0 
;

  SELECT job_id
  FROM sql_queue_stages
  WHERE job_id IN (?)
  ORDER BY job_id 
;

  SELECT job_id AS id
  FROM sql_queue_progress 
  WHERE job_id IN (?) 
;

  SELECT job_id AS id, MAX(CASE WHEN state = 'done' THEN 0 ELSE 1 END) AS waits
  FROM sql_queue_steps 
  WHERE job_id IN (?)
  GROUP BY job_id 
;

  SELECT queue, state, attempt, options
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = 0 
;

  UPDATE sql_queue_jobs 
  SET due_at = CASE WHEN run_at IS NULL THEN NULL ELSE due_at END,
      state = 'scheduled', runnable = 0, run_at = COALESCE(?, :now + ?)
  WHERE id = ?
;

  UPDATE sql_queue_jobs 
  SET headers = ?
  WHERE id = ?
;

  UPDATE sql_queue_jobs 
  SET payload = ?
  WHERE id = ?
;

  UPDATE sql_queue_jobs 
  SET priority = ?, runnable = CASE WHEN runnable = 3 THEN 5 ELSE runnable END
  WHERE id = ?
;

  UPDATE sql_queue_stages 
  SET priority = ?
  WHERE job_id = ?
;

-- admin.enqueueCopy

  INSERT INTO sql_queue_jobs (queue, name, run_at, state, runnable, priority, max_attempts, created_at, payload, headers, options, group_key)
  VALUES (?, ?, COALESCE(?, :now + ?), ?, ?, ?, ?, :now, ?, ?, ?, ?)
;

  INSERT INTO sql_queue_jobs (queue, name, state, runnable, priority, max_attempts, payload, headers, options)
  VALUES (?, ?, 'waiting', 1, ?, ?, ?, ?, ?)
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

-- admin.enqueueKeyed

  INSERT INTO sql_queue_jobs (queue, payload, options)
  VALUES (?, ?, ?)
;

  INSERT OR IGNORE INTO sql_queue_keys (queue, key_hash, kept_until)
  VALUES (?, ?, :now + ?)
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT DISTINCT job_id AS id
  FROM sql_queue_edges 
  WHERE job_id IN (?) AND fan_out > 0 
;

  SELECT id, queue, attempt, created_at, options, :now AS at
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id = 0
  ORDER BY id 
;

  SELECT job_id
  FROM sql_queue_stages
  WHERE job_id IN (?)
  ORDER BY job_id 
;

  SELECT job_id AS id
  FROM sql_queue_progress 
  WHERE job_id IN (?) 
;

  SELECT job_id AS id, MAX(CASE WHEN state = 'done' THEN 0 ELSE 1 END) AS waits
  FROM sql_queue_steps 
  WHERE job_id IN (?)
  GROUP BY job_id 
;

  SELECT k.key_hash, k.job_id, k.key_until, k.kept_until, :now AS at,
         k.expires_at > :now AND k.acquired_at <= :now + 60000 AS has_time,
         j.id AS alive, j.name, j.claim_id, j.attempt
  FROM sql_queue_keys k
  LEFT JOIN sql_queue_jobs j ON j.id = k.job_id AND j.queue = k.queue
  WHERE k.queue = ? AND k.key_hash IN (?)
;

  SELECT key_hash, job_id
  FROM sql_queue_keys 
  WHERE queue = ? AND key_hash IN (?)
  ORDER BY key_hash 
;

  UPDATE sql_queue_jobs 
  SET name = ?, run_at = COALESCE(?, :now + ?), state = ?, runnable = ?,
      priority = ?, attempt = 0, max_attempts = ?, payload = ?, headers = ?,
      options = ?, group_key = ?, error = NULL, due_at = CASE WHEN ? = 0 THEN NULL ELSE :now END
  WHERE id = ? AND claim_id = 0
;

  UPDATE sql_queue_keys 
  SET job_id = ?, key_until = ?, expires_at = :now + ?, acquired_at = :now,
      kept_until = :now + ?
  WHERE queue = ? AND key_hash = ?
;

-- admin.eraseQueue

    SELECT group_key
    FROM sql_queue_groups 
    WHERE queue = ?
    ORDER BY group_key
    LIMIT ?
;

    SELECT key_hash
    FROM sql_queue_keys 
    WHERE queue = ?
    ORDER BY key_hash
    LIMIT ?
;

    SELECT name
    FROM sql_queue_schedules 
    WHERE queue = ?
    ORDER BY name
    LIMIT ?
;

    SELECT step_ms, starts_at, recorder
    FROM sql_queue_metrics 
    WHERE queue = ?
    ORDER BY step_ms, starts_at, recorder
    LIMIT ?
;

    SELECT step_ms, starts_at, recorder, error
    FROM sql_queue_errors 
    WHERE queue = ?
    ORDER BY step_ms, starts_at, recorder, error
    LIMIT ?
;

  DELETE FROM sql_queue_limits
  WHERE queue = ?
;

  DELETE FROM sql_queue_queues
  WHERE queue = ?
;

  DELETE FROM sql_queue_subscriptions
  WHERE queue = ?
;

-- admin.facts

  SELECT COALESCE(SUM(CASE WHEN INSTR(queues, ?) > 0 THEN 1 ELSE 0 END), 0) AS serving,
         COALESCE(SUM(CASE WHEN INSTR(excluded, ?) > 0 THEN 1 ELSE 0 END), 0) AS excluding
  FROM sql_queue_workers
  WHERE seen_at > :now - 60000
;

  SELECT COUNT(*) AS entries, COALESCE(SUM(is_waiting), 0) AS waiting
  FROM (
    SELECT CASE WHEN state = 'waiting' THEN 1 ELSE 0 END AS is_waiting
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = ? AND priority < ?
    ORDER BY priority DESC, id DESC
    LIMIT 200
  ) AS urgent_n UNION ALL 
  SELECT COUNT(*) AS entries, COALESCE(SUM(is_waiting), 0) AS waiting
  FROM (
    SELECT CASE WHEN state = 'waiting' THEN 1 ELSE 0 END AS is_waiting
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = ? AND priority = ? AND id < ?
    ORDER BY priority DESC, id DESC
    LIMIT 200
  ) AS earlier_n
;

  SELECT COUNT(*) AS entries, COALESCE(SUM(is_waiting), 0) AS waiting
  FROM (
    SELECT CASE WHEN state = 'waiting' THEN 1 ELSE 0 END AS is_waiting
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key = ? AND priority < ?
    ORDER BY priority DESC, id DESC
    LIMIT 200
  ) AS urgent_n UNION ALL 
  SELECT COUNT(*) AS entries, COALESCE(SUM(is_waiting), 0) AS waiting
  FROM (
    SELECT CASE WHEN state = 'waiting' THEN 1 ELSE 0 END AS is_waiting
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key = ? AND priority = ? AND id < ?
    ORDER BY priority DESC, id DESC
    LIMIT 200
  ) AS earlier_n UNION ALL 
  SELECT COUNT(*) AS entries, COALESCE(SUM(is_waiting), 0) AS waiting
  FROM (
    SELECT CASE WHEN state = 'waiting' THEN 1 ELSE 0 END AS is_waiting
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 4 AND run_at IS NULL AND group_key = ? AND priority < ?
    ORDER BY priority DESC, id DESC
    LIMIT 200
  ) AS urgent_n UNION ALL 
  SELECT COUNT(*) AS entries, COALESCE(SUM(is_waiting), 0) AS waiting
  FROM (
    SELECT CASE WHEN state = 'waiting' THEN 1 ELSE 0 END AS is_waiting
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 4 AND run_at IS NULL AND group_key = ? AND priority = ? AND id < ?
    ORDER BY priority DESC, id DESC
    LIMIT 200
  ) AS earlier_n UNION ALL 
  SELECT COUNT(*) AS entries, COALESCE(SUM(is_waiting), 0) AS waiting
  FROM (
    SELECT CASE WHEN state = 'waiting' THEN 1 ELSE 0 END AS is_waiting
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key = ? AND priority < ?
    ORDER BY priority DESC, id DESC
    LIMIT 200
  ) AS urgent_n UNION ALL 
  SELECT COUNT(*) AS entries, COALESCE(SUM(is_waiting), 0) AS waiting
  FROM (
    SELECT CASE WHEN state = 'waiting' THEN 1 ELSE 0 END AS is_waiting
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key = ? AND priority = ? AND id < ?
    ORDER BY priority DESC, id DESC
    LIMIT 200
  ) AS earlier_n
;

  SELECT DISTINCT queue
  FROM (
    SELECT c.queue
    FROM sql_queue_claims c
    WHERE c.queue IN (?) AND c.owner IS NOT NULL AND c.lease_until > :now
      AND NOT EXISTS (SELECT 1 FROM sql_queue_workers w WHERE w.id = c.worker_id)
    LIMIT 20000
  ) AS assigned
;

  SELECT c.worker_id, c.owner, c.claimed_at, c.lease_until, c.lock_id, c.start_limit, c.job_ids, c.cancel_requests,
         c.snoozed_until, w.host, w.pid, w.seen_at
  FROM sql_queue_claims c  LEFT JOIN sql_queue_workers w ON w.id = c.worker_id
  WHERE c.id = ?
;

  SELECT declared, overrides, rate_until_us, rate_used, CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END AS rest_until
  FROM sql_queue_limits
  WHERE queue = ?
;

  SELECT group_key, state, turn, head_priority, head_id, active_ids, overrides, rate_until_us, rate_used, CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END AS rest_until
  FROM sql_queue_groups 
  WHERE queue = ? AND group_key = ?
;

  SELECT h.id, h.queue, h.state
  FROM sql_queue_history h 
  WHERE h.id IN (?)
  UNION ALL
  SELECT j.id, j.queue, CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)
;

  SELECT id
  FROM sql_queue_history 
  WHERE queue = ?
  LIMIT 1
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE id IN (?) AND queue = ? AND state = 'active'
;

  SELECT id, queue, name, state, attempt, finished_at, :now AS at
  FROM sql_queue_history 
  WHERE id = ?
;

  SELECT id, state
  FROM sql_queue_jobs 
  WHERE id IN (?) AND queue = ? AND group_key = ? AND (state = 'active' OR (state = 'scheduled' AND (attempt > 0 OR due_at IS NOT NULL)))
;

  SELECT j.id, j.queue, j.name, CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END AS state, j.runnable, j.run_at, j.priority, j.attempt, j.max_attempts,
         j.claim_id, j.created_at, SUBSTR(j.payload, 1, 1) AS payload, SUBSTR(j.headers, 1, 1) AS headers, j.options, j.error,
         j.group_key, :now AS at
  FROM sql_queue_jobs j 
  WHERE j.id = ?
;

  SELECT job_ids
  FROM sql_queue_claims
  WHERE (? IS NULL OR queue = ?) AND (? IS NULL OR owner = ?)
    AND (? IS NULL OR worker_id = ?)
;

  SELECT name, state, signal_key
  FROM sql_queue_steps 
  WHERE job_id = ? AND state IN ('sleeping', 'waiting') AND until_at = ?
  LIMIT 1
;

  SELECT needs, queue, name
  FROM sql_queue_edges 
  WHERE job_id = ? AND state IN ('open', 'failed')
  ORDER BY needs
  LIMIT 11
;

  SELECT paused, settings
  FROM sql_queue_queues
  WHERE queue = ?
;

  SELECT queue, served_at
  FROM sql_queue_queues
;

  SELECT queue, verb, made_by, details, changed_at
  FROM (
    SELECT queue, verb, made_by, details, changed_at, id
    FROM sql_queue_audit 
    WHERE verb = ?
    ORDER BY changed_at DESC, id DESC
    LIMIT 200
  ) AS latest
  WHERE queue IN (?) OR queue IS NULL
  ORDER BY changed_at DESC, id DESC
;

  SELECT queues
  FROM sql_queue_workers
  WHERE seen_at > :now - 60000
;

  SELECT stage
  FROM sql_queue_stages
  WHERE job_id = ?
;

-- admin.find

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_0_1
;

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_0_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_1_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_1_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_2_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_2_1
;

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_0_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_1_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_1_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_2_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_2_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_3_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_3_1
;

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_0_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_1_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_1_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_2_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_2_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_3_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_3_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_4_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_4_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_5_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_5_1
;

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_1
;

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_1_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_1_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_2_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_2_1
;

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_1_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_1_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_2_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_2_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_3_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_3_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_4_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_4_1
;

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_1_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_1_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_2_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_2_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_3_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_3_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_4_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_4_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_5_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_5_1
;

  SELECT 
         j.id, j.queue, j.name, CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END AS state, j.priority, j.attempt, j.max_attempts, j.payload, j.headers,
         j.options, j.error, NULL AS result, j.created_at, j.run_at, j.due_at, c.claimed_at AS started_at, NULL AS finished_at, j.group_key, c.worker_id,
         c.owner, (SELECT p.value FROM sql_queue_progress p WHERE p.job_id = j.id) AS progress
  FROM sql_queue_jobs j  LEFT JOIN sql_queue_claims c ON c.id = j.claim_id
  WHERE j.id IN (?)
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 3 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 4 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 3 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 4 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 5 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 3 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 3 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 4 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 3 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 4 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 5 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 3 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 4 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 5 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 6 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 7 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 8 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 9 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 10 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 11 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 12 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 13 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 14 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 15 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 3 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 4 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 5 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 6 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 3 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 4 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 5 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 6 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)  
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)  AND (INSTR(h.error, ?) > 0 OR INSTR(h.error, ?) > 0) 
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)  AND h.name = ? 
;

  SELECT h.id, h.queue, h.name, h.state, h.priority, h.attempt, h.max_attempts, h.payload, h.headers,
         h.options, h.error, h.result, h.created_at, NULL AS run_at, h.due_at, h.started_at, h.finished_at, '' AS group_key, h.worker_id,
         h.owner, (SELECT p.value FROM sql_queue_progress p WHERE p.job_id = h.id) AS progress
  FROM sql_queue_history h 
  WHERE h.id IN (?)
;

  SELECT id
  FROM sql_queue_history 
  WHERE id < ? AND id <= ?
  ORDER BY id DESC
  LIMIT ?
;

  SELECT id
  FROM sql_queue_history 
  WHERE id > ? AND id <= ?
  ORDER BY id ASC
  LIMIT ?
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE id < ? AND id <= ?
  ORDER BY id DESC
  LIMIT ?
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE id > ? AND id <= ?
  ORDER BY id ASC
  LIMIT ?
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 0 AND id <= ?
  LIMIT ?
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 1 AND run_at > 0 AND id <= ? 
  LIMIT ?
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)  
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)   AND CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END = ?
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)   AND CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END = ? AND j.queue = ?
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)   AND j.queue = ?
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)  AND j.name = ? 
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)  AND j.name = ?  AND j.queue = ?
;

  SELECT job_ids
  FROM sql_queue_claims
  WHERE (? IS NULL OR queue = ?) AND (? IS NULL OR owner = ?)
    AND (? IS NULL OR worker_id = ?)
;

  WITH RECURSIVE names (queue) AS (
    SELECT MIN(queue)
    FROM sql_queue_history
    UNION ALL
    SELECT (SELECT MIN(t.queue) FROM sql_queue_history t WHERE t.queue > names.queue)
    FROM names
    WHERE names.queue IS NOT NULL
  )
  SELECT queue
  FROM names
  WHERE queue IS NOT NULL
;

  WITH RECURSIVE names (queue) AS (
    SELECT MIN(queue)
    FROM sql_queue_jobs
    UNION ALL
    SELECT (SELECT MIN(t.queue) FROM sql_queue_jobs t WHERE t.queue > names.queue)
    FROM names
    WHERE names.queue IS NOT NULL
  )
  SELECT queue
  FROM names
  WHERE queue IS NOT NULL
;
SELECT (
      SELECT priority
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = ? AND run_at IS NULL AND group_key = ?
        AND priority > ?
      ORDER BY priority
      LIMIT 1) AS priority_n
;
SELECT (
      SELECT priority
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = ? AND run_at IS NULL AND group_key = ?
        AND priority > ?
      ORDER BY priority
      LIMIT 1) AS priority_n, (
      SELECT priority
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = ? AND run_at IS NULL AND group_key = ?
        AND priority > ?
      ORDER BY priority
      LIMIT 1) AS priority_n
;
SELECT EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 2 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 4 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 6 AND run_at IS NULL AND group_key > ''
    ) AS found
;
SELECT EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 2 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 4 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 6 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 2 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 4 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 6 AND run_at IS NULL AND group_key > ''
    ) AS found
;
SELECT nth, (SELECT id FROM sql_queue_history  WHERE queue = ranges.queue AND state = ranges.state AND id < ? AND id <= ? ORDER BY queue DESC, state DESC, id DESC LIMIT 1) AS first FROM (SELECT 0 AS nth, ? AS queue, ? AS state UNION ALL SELECT 1 AS nth, ? AS queue, ? AS state) AS ranges
;
SELECT nth, (SELECT id FROM sql_queue_history  WHERE queue = ranges.queue AND state = ranges.state AND id > ? AND id <= ? ORDER BY queue ASC, state ASC, id ASC LIMIT 1) AS first FROM (SELECT 0 AS nth, ? AS queue, ? AS state UNION ALL SELECT 1 AS nth, ? AS queue, ? AS state) AS ranges
;
SELECT nth, (SELECT run_at FROM sql_queue_jobs  WHERE queue = ranges.queue AND runnable = 0 AND run_at <= ? AND run_at <= ?
  ORDER BY queue DESC, runnable DESC, run_at DESC LIMIT 1) AS first FROM (SELECT 0 AS nth, ? AS queue UNION ALL SELECT 1 AS nth, ? AS queue) AS ranges
;
SELECT nth, (SELECT run_at FROM sql_queue_jobs  WHERE queue = ranges.queue AND runnable = 0 AND run_at >= ? AND run_at <= ?
  ORDER BY queue ASC, runnable ASC, run_at ASC LIMIT 1) AS first FROM (SELECT 0 AS nth, ? AS queue UNION ALL SELECT 1 AS nth, ? AS queue) AS ranges
;
SELECT nth, (SELECT run_at FROM sql_queue_jobs  WHERE queue = ranges.queue AND runnable = 1 AND run_at > 0  AND run_at <= ? AND run_at <= ?
  ORDER BY queue DESC, runnable DESC, run_at DESC LIMIT 1) AS first FROM (SELECT 0 AS nth, ? AS queue UNION ALL SELECT 1 AS nth, ? AS queue) AS ranges
;
SELECT nth, (SELECT run_at FROM sql_queue_jobs  WHERE queue = ranges.queue AND runnable = 1 AND run_at > 0  AND run_at >= ? AND run_at <= ?
  ORDER BY queue ASC, runnable ASC, run_at ASC LIMIT 1) AS first FROM (SELECT 0 AS nth, ? AS queue UNION ALL SELECT 1 AS nth, ? AS queue) AS ranges
;

-- admin.findIds

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_0_1
;

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_0_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_1_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_1_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_2_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at < ? OR (run_at = ? AND group_key < ?)
        OR (run_at = ? AND group_key = ? AND priority < ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id < ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at DESC, group_key DESC, priority DESC, id DESC
      LIMIT ?
    ) AS range_2_1
;

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_1
;

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_1_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_1_1
;

    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_0_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_1_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_1_1 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?)) AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_2_0 UNION ALL 
    SELECT run_at, group_key, priority, id
    FROM (
      SELECT run_at, group_key, priority, id
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at > 0 AND (run_at > ? OR (run_at = ? AND group_key > ?)
        OR (run_at = ? AND group_key = ? AND priority > ?)
        OR (run_at = ? AND group_key = ? AND priority = ? AND id > ?))  AND id <= ? AND run_at <= ?
      ORDER BY run_at ASC, group_key ASC, priority ASC, id ASC
      LIMIT ?
    ) AS range_2_1
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 3 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 3 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 4 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 5 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 6 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 7 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 8 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 9 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 10 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 11 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 12 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 13 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 14 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 15 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_history 
    WHERE queue = ? AND state = ? AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 3 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 4 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 5 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 6 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id < ? AND id <= ?
    ORDER BY id DESC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT 0 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 1 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 2 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 3 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 4 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 5 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n UNION ALL 
  SELECT 6 AS range_index, id
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = ? AND group_key = ? AND priority = ? AND run_at IS NULL AND id > ? AND id <= ?
    ORDER BY id ASC
    LIMIT ?
  ) AS range_n
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)  
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)   AND h.finished_at < ?
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)   AND h.finished_at >= ?
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)   AND h.finished_at >= ? AND h.finished_at < ?
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)  AND (INSTR(h.error, ?) > 0 OR INSTR(h.error, ?) > 0) 
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)  AND (h.error IS NULL OR NOT (INSTR(h.error, ?) > 0 OR INSTR(h.error, ?) > 0)) 
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)  AND h.name = ? 
;

  SELECT id
  FROM sql_queue_history 
  WHERE id < ? AND id <= ?
  ORDER BY id DESC
  LIMIT ?
;

  SELECT id
  FROM sql_queue_history 
  WHERE id > ? AND id <= ?
  ORDER BY id ASC
  LIMIT ?
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE id < ? AND id <= ?
  ORDER BY id DESC
  LIMIT ?
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE id > ? AND id <= ?
  ORDER BY id ASC
  LIMIT ?
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 0 AND id <= ?
  LIMIT ?
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 1 AND run_at > 0 AND id <= ? 
  LIMIT ?
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)  
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)   AND CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END = ?
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)   AND CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END = ? AND j.queue = ?
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)   AND j.queue = ?
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)  AND (INSTR(j.error, ?) > 0 OR INSTR(j.error, ?) > 0) 
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)  AND (j.error IS NULL OR NOT (INSTR(j.error, ?) > 0 OR INSTR(j.error, ?) > 0)) 
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)  AND j.name = ? 
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)  AND j.name = ?  AND j.queue = ?
;

  SELECT job_ids
  FROM sql_queue_claims
  WHERE (? IS NULL OR queue = ?) AND (? IS NULL OR owner = ?)
    AND (? IS NULL OR worker_id = ?)
;

  WITH RECURSIVE names (queue) AS (
    SELECT MIN(queue)
    FROM sql_queue_history
    UNION ALL
    SELECT (SELECT MIN(t.queue) FROM sql_queue_history t WHERE t.queue > names.queue)
    FROM names
    WHERE names.queue IS NOT NULL
  )
  SELECT queue
  FROM names
  WHERE queue IS NOT NULL
;

  WITH RECURSIVE names (queue) AS (
    SELECT MIN(queue)
    FROM sql_queue_jobs
    UNION ALL
    SELECT (SELECT MIN(t.queue) FROM sql_queue_jobs t WHERE t.queue > names.queue)
    FROM names
    WHERE names.queue IS NOT NULL
  )
  SELECT queue
  FROM names
  WHERE queue IS NOT NULL
;
SELECT (
      SELECT priority
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = ? AND run_at IS NULL AND group_key = ?
        AND priority > ?
      ORDER BY priority
      LIMIT 1) AS priority_n
;
SELECT (
      SELECT priority
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = ? AND run_at IS NULL AND group_key = ?
        AND priority > ?
      ORDER BY priority
      LIMIT 1) AS priority_n, (
      SELECT priority
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = ? AND run_at IS NULL AND group_key = ?
        AND priority > ?
      ORDER BY priority
      LIMIT 1) AS priority_n
;
SELECT EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 2 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 4 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 6 AND run_at IS NULL AND group_key > ''
    ) AS found
;
SELECT EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 2 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 4 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 6 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 2 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 4 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key > ''
    ) OR EXISTS (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 6 AND run_at IS NULL AND group_key > ''
    ) AS found
;

-- admin.get

  SELECT 
         j.id, j.queue, j.name, CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END AS state, j.priority, j.attempt, j.max_attempts, j.payload, j.headers,
         j.options, j.error, NULL AS result, j.created_at, j.run_at, j.due_at, c.claimed_at AS started_at, NULL AS finished_at, j.group_key, c.worker_id,
         c.owner, (SELECT p.value FROM sql_queue_progress p WHERE p.job_id = j.id) AS progress
  FROM sql_queue_jobs j  LEFT JOIN sql_queue_claims c ON c.id = j.claim_id
  WHERE j.id IN (?)
;

  SELECT h.id, h.queue, h.name, h.state, h.priority, h.attempt, h.max_attempts, h.payload, h.headers,
         h.options, h.error, h.result, h.created_at, NULL AS run_at, h.due_at, h.started_at, h.finished_at, '' AS group_key, h.worker_id,
         h.owner, (SELECT p.value FROM sql_queue_progress p WHERE p.job_id = h.id) AS progress
  FROM sql_queue_history h 
  WHERE h.id IN (?)
;

-- admin.hasQueue

  SELECT CASE WHEN EXISTS (SELECT 1 FROM sql_queue_queues WHERE queue = ?)
                OR EXISTS (SELECT 1 FROM sql_queue_jobs  WHERE queue = ?)
                OR EXISTS (SELECT 1 FROM sql_queue_history  WHERE queue = ?)
                OR EXISTS (SELECT 1 FROM sql_queue_limits WHERE queue = ?)
                OR EXISTS (SELECT 1 FROM sql_queue_groups WHERE queue = ?)
                OR EXISTS (SELECT 1 FROM sql_queue_subscriptions WHERE queue = ?)
                OR EXISTS (SELECT 1 FROM sql_queue_schedules WHERE queue = ?)
                OR EXISTS (SELECT 1 FROM sql_queue_workers WHERE INSTR(queues, ?) > 0 OR INSTR(excluded, ?) > 0)
              THEN 1 ELSE 0 END AS found
;

-- admin.logs

  SELECT number, logged_at, line
  FROM sql_queue_logs
  WHERE job_id = ? AND number > ?
  ORDER BY number ASC
  LIMIT ?
;

-- admin.problemFacts

  SELECT DISTINCT queue
  FROM (
    SELECT c.queue
    FROM sql_queue_claims c
    WHERE c.queue IN (?) AND c.owner IS NOT NULL AND c.lease_until > :now
      AND NOT EXISTS (SELECT 1 FROM sql_queue_workers w WHERE w.id = c.worker_id)
    LIMIT 20000
  ) AS assigned
;

  SELECT c.queue, COUNT(*) AS claims,
         :now - MIN(CASE WHEN c.lease_until > 0 THEN c.lease_until ELSE w.seen_at END) AS lapsed_ms
  FROM sql_queue_claims c LEFT JOIN sql_queue_workers w ON w.id = c.worker_id
  WHERE c.lease_until < :now - 60000 AND (c.lease_until > 0 OR w.seen_at < :now - 60000)
    AND (c.owner IS NULL OR w.id IS NOT NULL OR EXISTS (SELECT 1 FROM sql_queue_workers alive WHERE alive.seen_at > :now - 60000))
  GROUP BY c.queue
  ORDER BY c.queue
  LIMIT 20
;

  SELECT id
  FROM sql_queue_history 
  WHERE queue = ?
  LIMIT 1
;

  SELECT id, host, pid, seen_at
  FROM sql_queue_workers
  WHERE seen_at < :now - 60000 AND seen_at > :now - 3600000
  ORDER BY seen_at, id
  LIMIT 20
;

  SELECT queue
  FROM (
    SELECT queue, failed
    FROM sql_queue_metrics 
    WHERE step_ms = 0 AND starts_at > :now - 600000
    ORDER BY starts_at DESC
    LIMIT 20000
  ) AS latest
  GROUP BY queue
  HAVING SUM(failed) > 0
  ORDER BY SUM(failed) DESC, queue
  LIMIT 50
;

  SELECT queue, COUNT(*) AS late, SUM(CASE WHEN source = 'api' THEN 1 ELSE 0 END) AS from_api, MIN(name) AS first_name,
         MIN(next_at) AS due_at
  FROM (
    SELECT queue, source, name, next_at
    FROM sql_queue_schedules 
    WHERE next_at < :now - 60000
    ORDER BY next_at
    LIMIT 1000
  ) AS late_schedules
  GROUP BY queue
  ORDER BY due_at, queue
  LIMIT 20
;

  SELECT queue, served_at
  FROM sql_queue_queues
;

  SELECT queue, state, COUNT(*) AS at_rest, MIN(group_key) AS first_key
  FROM (
    SELECT queue, state, group_key
    FROM sql_queue_groups 
    WHERE queue IN (?) AND state IN ('blocked', 'paused')
    LIMIT 20000
  ) AS found
  GROUP BY queue, state
;

  SELECT queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs
  FROM sql_queue_metrics 
  WHERE queue IN (?) AND step_ms = 0 AND starts_at > :now - 3600000
  UNION ALL
  SELECT queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs
  FROM sql_queue_metrics 
  WHERE queue IN (?) AND step_ms = 60000 AND starts_at > :now - 3600000
;

  SELECT queue, verb, made_by, details, changed_at
  FROM (
    SELECT queue, verb, made_by, details, changed_at, id
    FROM sql_queue_audit 
    WHERE verb = ?
    ORDER BY changed_at DESC, id DESC
    LIMIT 200
  ) AS latest
  WHERE queue IN (?) OR queue IS NULL
  ORDER BY changed_at DESC, id DESC
;

  SELECT queues
  FROM sql_queue_workers
  WHERE seen_at > :now - 60000
;
SELECT :now AS at
;

-- admin.promote

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT id, queue, name, attempt
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id = 0 AND run_at IS NOT NULL
  ORDER BY id 
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)  AND j.name = ?  AND CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END = ?
  ORDER BY j.id 
;

  UPDATE sql_queue_jobs 
  SET due_at = :now, state = 'waiting', runnable = CASE WHEN EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) THEN 2 ELSE CASE WHEN group_key = '' THEN 1 ELSE 5 END END, run_at = NULL
  WHERE id IN (?) AND claim_id = 0
;

-- admin.queueNames

  WITH RECURSIVE names (queue) AS (
    SELECT MIN(queue)
    FROM sql_queue_history
    UNION ALL
    SELECT (SELECT MIN(t.queue) FROM sql_queue_history t WHERE t.queue > names.queue)
    FROM names
    WHERE names.queue IS NOT NULL
  )
  SELECT queue
  FROM names
  WHERE queue IS NOT NULL
;

  WITH RECURSIVE names (queue) AS (
    SELECT MIN(queue)
    FROM sql_queue_jobs
    UNION ALL
    SELECT (SELECT MIN(t.queue) FROM sql_queue_jobs t WHERE t.queue > names.queue)
    FROM names
    WHERE names.queue IS NOT NULL
  )
  SELECT queue
  FROM names
  WHERE queue IS NOT NULL
;
SELECT DISTINCT queue FROM sql_queue_limits
;
SELECT DISTINCT queue FROM sql_queue_queues
;
SELECT DISTINCT queue FROM sql_queue_schedules
;
SELECT DISTINCT queue FROM sql_queue_subscriptions
;
SELECT excluded FROM sql_queue_workers WHERE excluded IS NOT NULL LIMIT 100
;

-- admin.queues

  SELECT queue, declared, overrides, rate_until_us, rate_used, CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END AS rest_until, :now AS at
  FROM sql_queue_limits
;

  SELECT queue, paused, expires_after_ms, settings
  FROM sql_queue_queues
;

  WITH RECURSIVE names (queue) AS (
    SELECT MIN(queue)
    FROM sql_queue_jobs
    UNION ALL
    SELECT (SELECT MIN(t.queue) FROM sql_queue_jobs t WHERE t.queue > names.queue)
    FROM names
    WHERE names.queue IS NOT NULL
  )
  SELECT queue
  FROM names
  WHERE queue IS NOT NULL
;

-- admin.release

  SELECT id
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT queue, claim_id
  FROM sql_queue_jobs
  WHERE id = ?
;

  SELECT worker_id, cancel_requests, owner, job_ids, start_limit
  FROM sql_queue_claims 
  WHERE id = ? 
;

  UPDATE sql_queue_claims 
  SET cancel_requests = ?
  WHERE id = ?
;

  UPDATE sql_queue_jobs 
  SET state = 'waiting', runnable = CASE WHEN group_key = '' OR runnable = 2 THEN runnable ELSE 5 END, claim_id = 0, due_at = CASE WHEN ? = 0 THEN :now ELSE due_at END, attempt = CASE WHEN attempt > 0 THEN attempt - ? ELSE 0 END, error = COALESCE(?, error)
  WHERE (id IN (?)) AND claim_id = ?
;

-- admin.remove

  DELETE FROM sql_queue_history
  WHERE id = ?
;

  DELETE FROM sql_queue_jobs
  WHERE id = ? AND claim_id = 0
;

  DELETE FROM sql_queue_logs
  WHERE job_id = ? AND number >= 1 AND logged_at > 0
;

  DELETE FROM sql_queue_progress
  WHERE job_id IN (?) AND updated_at > 0
;

  DELETE FROM sql_queue_stages
  WHERE job_id = ?
;

  DELETE FROM sql_queue_steps
  WHERE job_id = ? AND name > '' AND expires_at > 0
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT DISTINCT job_id AS id
  FROM sql_queue_edges 
  WHERE job_id IN (?) AND fan_out > 0 
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)   AND h.queue = ?
  ORDER BY h.id 
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)   AND h.state = ? AND h.queue = ?
  ORDER BY h.id 
;

  SELECT id, queue, name, attempt, options
  FROM sql_queue_history 
  WHERE id IN (?)
  ORDER BY id 
;

  SELECT id, queue, name, attempt, options, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id = 0
  ORDER BY id 
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)   AND j.queue = ?
  ORDER BY j.id 
;

  SELECT job_id AS id
  FROM sql_queue_progress 
  WHERE job_id IN (?) 
;

  SELECT job_id AS id, MAX(CASE WHEN state = 'done' THEN 0 ELSE 1 END) AS waits
  FROM sql_queue_steps 
  WHERE job_id IN (?)
  GROUP BY job_id 
;

  SELECT waiter, job_id
  FROM sql_queue_waits 
  WHERE job_id IN (?) 
;

  UPDATE sql_queue_edges 
  SET state = CASE WHEN ? = 'completed' OR on_failure = 'run' THEN 'done' WHEN on_failure = 'wait' THEN 'open' ELSE 'failed' END, outcome = ?, result = NULL, error = NULL
  WHERE (needs IN (?)) AND state = 'open'
;

  UPDATE sql_queue_flows 
  SET expires_at = :now + 3600000
  WHERE id = ?
;

  UPDATE sql_queue_subjects 
  SET expires_at = :now + 3600000
  WHERE subject = ? AND job_id = ?
;

  UPDATE sql_queue_waits 
  SET expires_at = 1
  WHERE waiter = ? AND job_id IN (?)
;

-- admin.replay

  DELETE FROM sql_queue_history
  WHERE id = ?
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  INSERT INTO sql_queue_jobs (id, queue, name, run_at, state, runnable, priority, attempt, max_attempts,
                      created_at, payload, headers, options, error, due_at, group_key)
  VALUES (?, ?, ?, :now + ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, :now + ?, ?)
;

  SELECT DISTINCT job_id AS id
  FROM sql_queue_edges 
  WHERE job_id IN (?) AND fan_out > 0 
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)   AND h.state = ? AND h.queue = ?
  ORDER BY h.id 
;

  SELECT id, queue, name, state, priority, max_attempts, created_at, payload, headers, options, error
  FROM sql_queue_history 
  WHERE id IN (?) AND (state <> 'completed' OR ? = 1)
  ORDER BY id 
;

  SELECT id, queue, options
  FROM sql_queue_history
  WHERE id IN (?) AND options IS NOT NULL
;

  SELECT job_id AS id
  FROM sql_queue_progress 
  WHERE job_id IN (?) 
;

  SELECT job_id AS id, MAX(CASE WHEN state = 'done' THEN 0 ELSE 1 END) AS waits
  FROM sql_queue_steps 
  WHERE job_id IN (?)
  GROUP BY job_id 
;

  SELECT job_id, needs, state, fan_out
  FROM sql_queue_edges 
  WHERE needs IN (?) 
;

  SELECT k.key_hash, k.job_id, k.key_until, k.kept_until, :now AS at,
         k.expires_at > :now AND k.acquired_at <= :now + 60000 AS has_time,
         j.id AS alive, j.name, j.claim_id, j.attempt
  FROM sql_queue_keys k
  LEFT JOIN sql_queue_jobs j ON j.id = k.job_id AND j.queue = k.queue
  WHERE k.queue = ? AND k.key_hash IN (?)
;

  SELECT key_hash, job_id, kept_until
  FROM sql_queue_keys 
  WHERE queue = ? AND key_hash IN (?)
  ORDER BY key_hash 
;

  UPDATE sql_queue_keys 
  SET job_id = ?, key_until = ?, expires_at = :now + ?, acquired_at = :now,
      kept_until = :now + ?
  WHERE queue = ? AND key_hash = ?
;

-- admin.retry

  DELETE FROM sql_queue_history
  WHERE id = ?
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  INSERT INTO sql_queue_jobs (id, queue, name, run_at, state, runnable, priority, attempt, max_attempts,
                      created_at, payload, headers, options, error, due_at, group_key)
  VALUES (?, ?, ?, :now + ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, :now + ?, ?)
;

  INSERT OR IGNORE INTO sql_queue_keys (queue, key_hash, kept_until)
  VALUES (?, ?, :now + ?)
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT DISTINCT job_id AS id
  FROM sql_queue_edges 
  WHERE job_id IN (?) AND fan_out > 0 
;

  SELECT DISTINCT job_id AS id
  FROM sql_queue_edges 
  WHERE job_id IN (?) AND state = 'open' 
;

  SELECT h.id
  FROM sql_queue_history h 
  WHERE h.id IN (?)  AND (h.error IS NULL OR NOT (INSTR(h.error, ?) > 0 OR INSTR(h.error, ?) > 0)) 
  ORDER BY h.id 
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE id IN (?) 
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE id IN (?) AND state = 'blocked'
  ORDER BY id 
;

  SELECT id, queue, name, attempt
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id = 0 AND run_at IS NOT NULL
  ORDER BY id 
;

  SELECT id, queue, name, state, priority, max_attempts, created_at, payload, headers, options, error
  FROM sql_queue_history 
  WHERE id IN (?) AND (state <> 'completed' OR ? = 1)
  ORDER BY id 
;

  SELECT id, queue, options
  FROM sql_queue_history
  WHERE id IN (?) AND options IS NOT NULL
;

  SELECT j.id
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)  AND (j.error IS NULL OR NOT (INSTR(j.error, ?) > 0 OR INSTR(j.error, ?) > 0)) 
  ORDER BY j.id 
;

  SELECT job_id AS id
  FROM sql_queue_progress 
  WHERE job_id IN (?) 
;

  SELECT job_id AS id, MAX(CASE WHEN state = 'done' THEN 0 ELSE 1 END) AS waits
  FROM sql_queue_steps 
  WHERE job_id IN (?)
  GROUP BY job_id 
;

  SELECT job_id, needs, state, fan_out
  FROM sql_queue_edges 
  WHERE needs IN (?) 
;

  SELECT k.key_hash, k.job_id, k.key_until, k.kept_until, :now AS at,
         k.expires_at > :now AND k.acquired_at <= :now + 60000 AS has_time,
         j.id AS alive, j.name, j.claim_id, j.attempt
  FROM sql_queue_keys k
  LEFT JOIN sql_queue_jobs j ON j.id = k.job_id AND j.queue = k.queue
  WHERE k.queue = ? AND k.key_hash IN (?)
;

  SELECT key_hash, job_id, kept_until
  FROM sql_queue_keys 
  WHERE queue = ? AND key_hash IN (?)
  ORDER BY key_hash 
;

  UPDATE sql_queue_edges 
  SET state = 'done'
  WHERE job_id = ? AND state = 'failed'
;

  UPDATE sql_queue_edges 
  SET state = 'open', outcome = '', result = NULL, error = NULL
  WHERE (needs IN (?))
;

  UPDATE sql_queue_edges 
  SET state = 'open', outcome = '', result = NULL, error = NULL
  WHERE job_id = ? AND needs = ?
;

  UPDATE sql_queue_flows 
  SET expires_at = :now + 3600000
  WHERE id = ?
;

  UPDATE sql_queue_jobs 
  SET due_at = :now, state = 'waiting', runnable = CASE WHEN EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) THEN 2 ELSE CASE WHEN group_key = '' THEN 1 ELSE 5 END END, run_at = NULL
  WHERE id IN (?) AND claim_id = 0
;

  UPDATE sql_queue_keys 
  SET job_id = ?, key_until = ?, expires_at = :now + ?, acquired_at = :now,
      kept_until = :now + ?
  WHERE queue = ? AND key_hash = ?
;

  UPDATE sql_queue_progress 
  SET expires_at = :now + 3600000
  WHERE job_id IN (?)
;

  UPDATE sql_queue_steps 
  SET expires_at = :now + 3600000
  WHERE job_id = ? AND name > ''
;

  UPDATE sql_queue_subjects 
  SET expires_at = :now + 3600000
  WHERE subject = ? AND job_id = ?
;

-- admin.setPaused

  INSERT OR IGNORE INTO sql_queue_queues (queue, paused, created_at)
  VALUES (?, 0, :now)
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  UPDATE sql_queue_queues 
  SET paused = ?
  WHERE queue IN (?)
;

-- admin.states

  SELECT h.id, h.queue, h.state
  FROM sql_queue_history h 
  WHERE h.id IN (?)
  UNION ALL
  SELECT j.id, j.queue, CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)
;

-- admin.workers

  SELECT id, host, pid, queues, slots, excluded, started_at, seen_at,
         CASE WHEN seen_at < :now - 60000 THEN 1 ELSE 0 END AS is_silent
  FROM sql_queue_workers
  ORDER BY started_at, id
;

  SELECT id, queue, claim_id, runnable
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id <> 0
;

  SELECT id, worker_id, job_ids, start_limit
  FROM sql_queue_claims
  WHERE owner IS NULL
;

-- audit.list

    SELECT id, verb, queue, made_by, details, changed, changed_at
    FROM sql_queue_audit 
    WHERE 1 = 1
    ORDER BY changed_at ASC, id ASC
    LIMIT ?
;

    SELECT id, verb, queue, made_by, details, changed, changed_at
    FROM sql_queue_audit 
    WHERE changed_at >= ? AND (changed_at > ? OR id > ?)
    ORDER BY changed_at ASC, id ASC
    LIMIT ?
;

    SELECT id, verb, queue, made_by, details, changed, changed_at
    FROM sql_queue_audit 
    WHERE made_by = ?
    ORDER BY changed_at ASC, id ASC
    LIMIT ?
;

    SELECT id, verb, queue, made_by, details, changed, changed_at
    FROM sql_queue_audit 
    WHERE made_by = ? AND queue = ?
    ORDER BY changed_at DESC, id DESC
    LIMIT ?
;

    SELECT id, verb, queue, made_by, details, changed, changed_at
    FROM sql_queue_audit 
    WHERE made_by = ? AND queue = ? AND changed_at <= ? AND (changed_at < ? OR id < ?)
    ORDER BY changed_at DESC, id DESC
    LIMIT ?
;

    SELECT id, verb, queue, made_by, details, changed, changed_at
    FROM sql_queue_audit 
    WHERE queue = ?
    ORDER BY changed_at ASC, id ASC
    LIMIT ?
;

    SELECT id, verb, queue, made_by, details, changed, changed_at
    FROM sql_queue_audit 
    WHERE verb = ?
    ORDER BY changed_at ASC, id ASC
    LIMIT ?
;

-- audit.prune

  DELETE FROM sql_queue_audit
  WHERE id = ? AND changed_at < :now - ?
;

  SELECT id
  FROM sql_queue_audit 
  WHERE changed_at < :now - ?
  ORDER BY changed_at, id
  LIMIT ?
;

-- blobRows.referencesUntil

  SELECT payload AS reference
  FROM sql_queue_jobs
  WHERE payload >= ? AND payload < ?
  UNION ALL
  SELECT payload AS reference
  FROM sql_queue_history
  WHERE payload >= ? AND payload < ?
  UNION ALL
  SELECT result AS reference
  FROM sql_queue_history
  WHERE result >= ? AND result < ?
  UNION ALL
  SELECT result AS reference
  FROM sql_queue_edges
  WHERE result >= ? AND result < ?
;

-- consumer.assign

  DELETE FROM sql_queue_claims
  WHERE id = ?
;

  INSERT INTO sql_queue_claims (id, worker_id, queue, job_ids, start_limit, lease_ms, lease_until, claimed_at, owner, dead_letter)
  VALUES (?, ?, ?, ?, 1, ?, COALESCE(?, :now + ?), :now, ?, ?)
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  SELECT id, lease_until
  FROM sql_queue_claims
  WHERE id IN (?)
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT queue, claim_id
  FROM sql_queue_jobs
  WHERE id = ?
;

  SELECT stage
  FROM sql_queue_stages
  WHERE job_id = ?
;

  SELECT worker_id, owner, dead_letter, :now AS at, claimed_at, CASE WHEN lease_until > :now THEN 1 ELSE 0 END AS has_lease
  FROM sql_queue_claims 
  WHERE id = ? 
;

  UPDATE sql_queue_claims 
  SET lease_until = 9007199254740991, snoozed_until = NULL
  WHERE id = ?
;

  UPDATE sql_queue_jobs 
  SET claim_id = ?
  WHERE id = ? AND claim_id = ?
;

  UPDATE sql_queue_jobs 
  SET due_at = CASE WHEN run_at IS NULL THEN due_at ELSE :now END,
      state = 'active', claim_id = ?, attempt = CASE WHEN attempt < 2147483647 THEN attempt + 1 ELSE 2147483647 END, run_at = NULL, runnable = CASE WHEN EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) THEN 2 ELSE CASE WHEN group_key = '' THEN 1 ELSE 5 END END,
      max_attempts = COALESCE(NULLIF(max_attempts, 0), ?)
  WHERE id = ? AND claim_id = 0
;

-- consumer.claimFromStage

  INSERT INTO sql_queue_claims (id, worker_id, queue, job_ids, start_limit, lease_ms, lease_until, claimed_at, owner, dead_letter)
  VALUES (?, ?, ?, ?, 1, ?, COALESCE(?, :now + ?), :now, ?, ?)
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  SELECT  s.job_id AS id, s.priority
  FROM sql_queue_stages s 
  JOIN sql_queue_jobs j  ON j.id = s.job_id
  WHERE s.queue = ? AND s.stage = ? AND s.priority >= ? AND (s.priority > ? OR s.job_id > ?)
    AND j.claim_id = 0 AND j.state = 'waiting' AND j.runnable = 2
  ORDER BY s.priority, s.job_id
  LIMIT ?
;

  SELECT id, lease_until
  FROM sql_queue_claims
  WHERE id IN (?)
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND claim_id = 0 AND state = 'waiting' AND runnable = 2
  ORDER BY id 
;

  SELECT job_id AS id
  FROM sql_queue_stages
  WHERE job_id IN (?) AND queue = ? AND stage = ?
;

  UPDATE sql_queue_jobs 
  SET due_at = CASE WHEN run_at IS NULL THEN due_at ELSE :now END,
      state = 'active', claim_id = ?, attempt = CASE WHEN attempt < 2147483647 THEN attempt + 1 ELSE 2147483647 END, run_at = NULL, runnable = CASE WHEN EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) THEN 2 ELSE CASE WHEN group_key = '' THEN 1 ELSE 5 END END,
      max_attempts = COALESCE(NULLIF(max_attempts, 0), ?)
  WHERE id = ? AND claim_id = 0
;

-- consumer.claimPermit

  SELECT paused, settings, :now AS at, CASE WHEN 
  CASE WHEN used_at BETWEEN 0 AND 9007199254740991 AND expires_after_ms BETWEEN 0 AND 9007199254740991
       THEN used_at + expires_after_ms / 4 END <= :now THEN 1 ELSE 0 END AS needs_mark,
         EXISTS (SELECT 1 FROM sql_queue_limits l WHERE l.queue = ?) AS limited,
         EXISTS (SELECT 1 FROM sql_queue_groups g WHERE g.queue = ?) AS grouped
  FROM sql_queue_queues
  WHERE queue = ?
;

-- consumer.end

  DELETE FROM sql_queue_claims
  WHERE id = ?
;

  DELETE FROM sql_queue_jobs
  WHERE (id IN (?)) AND claim_id = ?
;

  DELETE FROM sql_queue_stages
  WHERE job_id = ?
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  SELECT id, queue, name, 'completed', priority, attempt, max_attempts, ?,
         created_at, :now - ?, :now, :now + ?, payload, headers, CASE WHEN group_key = '' THEN options ELSE JSON_SET(COALESCE(options, '{}'), '$.group', group_key) END, NULL, NULL,
         due_at, ?
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND claim_id = ?
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?, ?, ?)
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT queue, claim_id
  FROM sql_queue_jobs
  WHERE id = ?
;

  SELECT worker_id, owner, dead_letter, :now AS at, claimed_at, CASE WHEN lease_until > :now THEN 1 ELSE 0 END AS has_lease
  FROM sql_queue_claims 
  WHERE id = ? 
;

  UPDATE sql_queue_jobs 
  SET state = 'scheduled', runnable = 0, run_at = COALESCE(?, :now + ?), claim_id = 0,
      due_at = CASE WHEN group_key = '' THEN NULL ELSE COALESCE(due_at, created_at) END, attempt = CASE WHEN attempt > 0 THEN attempt - ? ELSE 0 END, error = COALESCE(?, error)
  WHERE (id IN (?)) AND claim_id = ?
;

  UPDATE sql_queue_jobs 
  SET state = 'waiting', runnable = CASE WHEN group_key = '' OR runnable = 2 THEN runnable ELSE 5 END, claim_id = 0, due_at = CASE WHEN ? = 0 THEN :now ELSE due_at END, attempt = CASE WHEN attempt > 0 THEN attempt - ? ELSE 0 END, error = COALESCE(?, error)
  WHERE (id IN (?)) AND claim_id = ?
;

-- consumer.extend

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT lease_until
  FROM sql_queue_claims
  WHERE id = ?
;

  SELECT queue, claim_id
  FROM sql_queue_jobs
  WHERE id = ?
;

  SELECT worker_id, owner, dead_letter, :now AS at, claimed_at, CASE WHEN lease_until > :now THEN 1 ELSE 0 END AS has_lease
  FROM sql_queue_claims 
  WHERE id = ? 
;

  UPDATE sql_queue_claims 
  SET lease_ms = ?, lease_until = :now + ?
  WHERE id = ?
;

-- consumer.listAssigned

  SELECT job_ids
  FROM sql_queue_claims
  WHERE (? IS NULL OR queue = ?) AND (? IS NULL OR owner = ?)
    AND (? IS NULL OR worker_id = ?)
;

-- consumer.listInStage

  SELECT  
         j.id, j.queue, j.name, CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END AS state, j.priority, j.attempt, j.max_attempts, j.payload, j.headers,
         j.options, j.error, NULL AS result, j.created_at, j.run_at, j.due_at, c.claimed_at AS started_at, NULL AS finished_at, j.group_key, c.worker_id,
         c.owner, (SELECT p.value FROM sql_queue_progress p WHERE p.job_id = j.id) AS progress, c.lease_until, CASE WHEN c.snoozed_until > :now THEN c.snoozed_until END AS snoozed_until, s.stage
  FROM sql_queue_stages s 
  JOIN sql_queue_jobs j  ON j.id = s.job_id
  LEFT JOIN sql_queue_claims c ON c.id = j.claim_id
  WHERE s.queue = ? AND s.stage = ?
    AND (s.priority > ? OR (s.priority = ? AND s.job_id > ?))
  ORDER BY s.priority ASC, s.job_id ASC
  LIMIT ?
;

-- consumer.listUnassigned

  SELECT 
         j.id, j.queue, j.name, CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END AS state, j.priority, j.attempt, j.max_attempts, j.payload, j.headers,
         j.options, j.error, NULL AS result, j.created_at, j.run_at, j.due_at, c.claimed_at AS started_at, NULL AS finished_at, j.group_key, c.worker_id,
         c.owner, (SELECT p.value FROM sql_queue_progress p WHERE p.job_id = j.id) AS progress, c.lease_until, CASE WHEN c.snoozed_until > :now THEN c.snoozed_until END AS snoozed_until, s.stage
  FROM sql_queue_jobs j 
  LEFT JOIN sql_queue_claims c ON c.id = j.claim_id
  LEFT JOIN sql_queue_stages s ON s.job_id = j.id
  WHERE j.queue = ? AND j.runnable = 1 AND j.run_at IS NULL AND j.group_key = '' AND j.state = 'waiting'
    AND (j.priority > ? OR (j.priority = ? AND j.id > ?))
  ORDER BY j.priority ASC, j.id ASC
  LIMIT ?
;

-- consumer.move

  DELETE FROM sql_queue_claims
  WHERE id = ?
;

  DELETE FROM sql_queue_stages
  WHERE job_id = ?
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  INSERT INTO sql_queue_stages (job_id, queue, stage, priority)
  SELECT id, queue, ?, priority
  FROM sql_queue_jobs 
  WHERE id = ?
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT job_id
  FROM sql_queue_stages
  WHERE job_id IN (?)
  ORDER BY job_id 
;

  SELECT queue, claim_id
  FROM sql_queue_jobs
  WHERE id = ?
;

  SELECT worker_id, owner, dead_letter, :now AS at, claimed_at, CASE WHEN lease_until > :now THEN 1 ELSE 0 END AS has_lease
  FROM sql_queue_claims 
  WHERE id = ? 
;

  UPDATE sql_queue_jobs 
  SET runnable = CASE WHEN ? = 1 THEN 2 ELSE CASE WHEN group_key = '' THEN 1 ELSE 5 END END
  WHERE id = ? AND claim_id = 0
;

  UPDATE sql_queue_jobs 
  SET state = 'waiting', runnable = CASE WHEN group_key = '' OR runnable = 2 THEN runnable ELSE 5 END, claim_id = 0, due_at = CASE WHEN ? = 0 THEN :now ELSE due_at END, attempt = CASE WHEN attempt > 0 THEN attempt - ? ELSE 0 END, error = COALESCE(?, error)
  WHERE (id IN (?)) AND claim_id = ?
;

-- consumer.snooze

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT queue, claim_id
  FROM sql_queue_jobs
  WHERE id = ?
;

  SELECT worker_id, owner, dead_letter, :now AS at, claimed_at, CASE WHEN lease_until > :now THEN 1 ELSE 0 END AS has_lease
  FROM sql_queue_claims 
  WHERE id = ? 
;

  UPDATE sql_queue_claims 
  SET snoozed_until = ?,
      lease_until = CASE WHEN lease_until >= 9007199254740991 THEN lease_until ELSE ? + CASE WHEN lease_ms BETWEEN 0 AND 3153600000000 THEN lease_ms ELSE 30000 END END
  WHERE id = ?
;

-- consumer.splitClaim

  DELETE FROM sql_queue_claims
  WHERE id = ?
;

  INSERT INTO sql_queue_claims (id, worker_id, queue, job_ids, start_limit, lease_ms, lease_until, claimed_at, owner, dead_letter)
  VALUES (?, ?, ?, ?, 1, ?, COALESCE(?, :now + ?), :now, ?, ?)
;

  SELECT id, cancel_requests
  FROM sql_queue_claims 
  WHERE id IN (?)
  ORDER BY id 
;

  SELECT id, lease_until
  FROM sql_queue_claims
  WHERE id IN (?)
;

  UPDATE sql_queue_jobs 
  SET claim_id = ?
  WHERE id = ? AND claim_id = ?
;

-- content.rekey

  SELECT hash, data
  FROM sql_queue_signals
  WHERE hash > ?
  ORDER BY hash
  LIMIT ?
;

  SELECT id, claim_id, run_at, CASE WHEN state = 'blocked' THEN options END AS blocked_options, payload, error
  FROM sql_queue_jobs
  WHERE id > ?
  ORDER BY id
  LIMIT ?
;

  SELECT id, payload, result, error
  FROM sql_queue_history
  WHERE id > ?
  ORDER BY id
  LIMIT ?
;

  SELECT job_id, name, result
  FROM sql_queue_steps
  WHERE job_id >= ? AND (job_id > ? OR name > ?)
  ORDER BY job_id, name
  LIMIT ?
;

  SELECT job_id, needs, result, error
  FROM sql_queue_edges
  WHERE job_id >= ? AND (job_id > ? OR needs > ?)
  ORDER BY job_id, needs
  LIMIT ?
;

  SELECT job_id, number, line
  FROM sql_queue_logs
  WHERE job_id >= ? AND (job_id > ? OR number > ?)
  ORDER BY job_id, number
  LIMIT ?
;

  SELECT job_id, value
  FROM sql_queue_progress
  WHERE job_id > ?
  ORDER BY job_id
  LIMIT ?
;

  SELECT name, payload
  FROM sql_queue_schedules
  WHERE name > ?
  ORDER BY name
  LIMIT ?
;

  UPDATE sql_queue_edges 
  SET result = ?, error = ?
  WHERE job_id = ? AND needs = ? AND COALESCE(SUBSTR(result, 1, 4000), '') = ? AND COALESCE(SUBSTR(error, 1, 4000), '') = ?
;

  UPDATE sql_queue_history 
  SET payload = ?, result = ?, error = ?
  WHERE id = ? AND COALESCE(SUBSTR(payload, 1, 4000), '') = ? AND COALESCE(SUBSTR(result, 1, 4000), '') = ? AND COALESCE(SUBSTR(error, 1, 4000), '') = ?
;

  UPDATE sql_queue_jobs 
  SET payload = ?, error = ?
  WHERE id = ? AND claim_id = 0 AND COALESCE(SUBSTR(payload, 1, 4000), '') = ? AND COALESCE(SUBSTR(error, 1, 4000), '') = ?
;

  UPDATE sql_queue_logs 
  SET line = ?
  WHERE job_id = ? AND number = ? AND COALESCE(SUBSTR(line, 1, 4000), '') = ?
;

  UPDATE sql_queue_progress 
  SET value = ?
  WHERE job_id = ? AND COALESCE(SUBSTR(value, 1, 4000), '') = ?
;

  UPDATE sql_queue_schedules 
  SET payload = ?
  WHERE name = ? AND COALESCE(SUBSTR(payload, 1, 4000), '') = ?
;

  UPDATE sql_queue_signals 
  SET data = ?
  WHERE hash = ? AND COALESCE(SUBSTR(data, 1, 4000), '') = ?
;

-- events.lastIds

  SELECT id
  FROM sql_queue_events
  WHERE id > 0 AND id <= 9007199254740991
  ORDER BY id DESC
  LIMIT ?
;

-- events.pruneEvents

  DELETE FROM sql_queue_events
  WHERE (id IN (?)) AND recorded_at <= :now - ?
;

  SELECT id, CASE WHEN recorded_at <= :now - ? THEN 1 ELSE 0 END AS is_expired
  FROM sql_queue_events 
  WHERE id > 0
  ORDER BY id
  LIMIT ? 
;

-- events.readAfter

  SELECT id, event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at
  FROM sql_queue_events
  WHERE id > ? AND id <= 9007199254740991
  ORDER BY id
  LIMIT ?
;

-- events.readByIds

  SELECT id, event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at
  FROM sql_queue_events
  WHERE id IN (?)
  ORDER BY id
;

-- flows.children

  SELECT needs, queue, name, outcome, result, error
  FROM sql_queue_edges 
  WHERE job_id = ? AND needs > ? AND fan_out <= ?
  ORDER BY needs
  LIMIT ?
;

-- flows.create

  INSERT INTO sql_queue_edges (job_id, needs, queue, name, on_failure, fan_out)
  SELECT ?, id, queue, name, ?, ?
  FROM sql_queue_jobs 
  WHERE (id IN (?))
;

  INSERT INTO sql_queue_edges (job_id, needs, queue, name, on_failure, fan_out)
  VALUES (?, ?, ?, ?, ?, ?)
;

  INSERT INTO sql_queue_flows (created_at, expires_at)
  VALUES (:now, :now + 3600000)
;

  INSERT INTO sql_queue_jobs (queue, name, run_at, state, runnable, priority, max_attempts, created_at, payload, headers, options, group_key)
  VALUES (?, ?, COALESCE(?, :now + ?), ?, ?, ?, ?, :now, ?, ?, ?, ?)
;

  INSERT INTO sql_queue_jobs (queue, payload, options)
  VALUES (?, ?, ?)
;

  REPLACE INTO sql_queue_subjects (subject, job_id, expires_at, blobs)
  VALUES (?, ?, :now + 3600000, ?)
;

-- flows.fanOut

  INSERT INTO sql_queue_edges (job_id, needs, queue, name, on_failure, fan_out)
  SELECT ?, id, queue, name, ?, ?
  FROM sql_queue_jobs 
  WHERE (id IN (?))
;

  INSERT INTO sql_queue_edges (job_id, needs, queue, name, on_failure, fan_out)
  VALUES (?, ?, ?, ?, ?, ?)
;

  INSERT INTO sql_queue_flows (created_at, expires_at)
  VALUES (:now, :now + 3600000)
;

  INSERT INTO sql_queue_jobs (queue, payload, options)
  VALUES (?, ?, ?)
;

  INSERT INTO sql_queue_steps (job_id, name, state, result, until_at, signal_hash, signal_key, expires_at)
  VALUES (?, ?, ?, ?, COALESCE(?, :now + ?), ?, ?, :now + 3600000)
;

  SELECT id, queue, name, options
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT name, state, result, until_at, :now AS at
  FROM sql_queue_steps 
  WHERE job_id = ? AND name = ? 
;

  UPDATE sql_queue_jobs 
  SET options = ?
  WHERE id = ?
;

-- flows.list

  SELECT MAX(CASE WHEN outcome = '' THEN 1 ELSE 0 END) AS is_open,
         MAX(CASE WHEN outcome = 'dead' THEN 1 ELSE 0 END) AS has_dead,
         MAX(CASE WHEN state = 'open' AND outcome <> '' THEN 1 ELSE 0 END) AS is_stuck
  FROM (SELECT state, outcome FROM sql_queue_edges  WHERE job_id IN (?) LIMIT 20000) examined
;

  SELECT h.id, h.queue, h.state
  FROM sql_queue_history h 
  WHERE h.id IN (?)
  UNION ALL
  SELECT j.id, j.queue, CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)
;

  SELECT id, created_at
  FROM sql_queue_flows 
  WHERE 1 = 1
  ORDER BY id ASC
  LIMIT ?
;

  SELECT id, created_at
  FROM sql_queue_flows 
  WHERE 1 = 1
  ORDER BY id DESC
  LIMIT ?
;

  SELECT id, created_at
  FROM sql_queue_flows 
  WHERE id < ?
  ORDER BY id DESC
  LIMIT ?
;

  SELECT id, created_at
  FROM sql_queue_flows 
  WHERE id > ?
  ORDER BY id ASC
  LIMIT ?
;

  SELECT job_id, needs, queue, name, state, outcome
  FROM sql_queue_edges 
  WHERE job_id IN (?)
  ORDER BY job_id, needs
  LIMIT ?
;

-- flows.mustWait

  SELECT CASE WHEN EXISTS (SELECT 1 FROM sql_queue_steps WHERE job_id = ? AND name = ?)
               AND NOT EXISTS (
                 SELECT 1 FROM sql_queue_edges  WHERE job_id = ? AND state IN ('open', 'failed')
               )
              THEN 0 ELSE 1 END AS must_wait
;

-- flows.prune

  DELETE FROM sql_queue_edges
  WHERE job_id = ?
;

  DELETE FROM sql_queue_flows
  WHERE id = ?
;

  SELECT e.needs
  FROM sql_queue_edges e 
  WHERE e.job_id = ?
    AND (EXISTS (SELECT 1 FROM sql_queue_history h WHERE h.id = e.needs) OR EXISTS (SELECT 1 FROM sql_queue_jobs j WHERE j.id = e.needs))
  LIMIT 1
;

  SELECT id
  FROM sql_queue_flows 
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT ?
;

  SELECT id, CASE WHEN expires_at > :now THEN expires_at ELSE :now END + ? AS at
  FROM sql_queue_history
  WHERE id IN (?)
  UNION ALL
  SELECT id, :now + ? AS at
  FROM sql_queue_jobs
  WHERE id IN (?)
;

  SELECT job_id, needs, queue, name, on_failure, outcome
  FROM sql_queue_edges 
  WHERE job_id IN (?)
;

  UPDATE sql_queue_flows 
  SET expires_at = ?
  WHERE id = ? AND expires_at <= :now
;

-- flows.read

  SELECT created_at
  FROM sql_queue_flows
  WHERE id = ?
;

  SELECT h.id, h.queue, h.state
  FROM sql_queue_history h 
  WHERE h.id IN (?)
  UNION ALL
  SELECT j.id, j.queue, CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)
;

  SELECT job_id, needs, queue, name, on_failure, outcome
  FROM sql_queue_edges 
  WHERE job_id IN (?)
;

-- flows.recheck

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged, :now AS at
  FROM sql_queue_jobs 
  WHERE id IN (?) AND state = 'blocked'
  ORDER BY id 
;

  SELECT j.id, 
         (
           SELECT o.needs
           FROM sql_queue_edges o 
           WHERE o.job_id = j.id AND o.state = 'open'
           LIMIT 1
         ) AS open_edge,
         (
           SELECT f.needs
           FROM sql_queue_edges f 
           WHERE f.job_id = j.id AND f.state = 'failed'
           LIMIT 1
         ) AS failed_edge
  FROM sql_queue_jobs j 
  WHERE j.id IN (?) AND j.state = 'blocked'
;

-- flows.relatives

  SELECT COUNT(*) AS jobs
  FROM (SELECT 1 AS one FROM sql_queue_edges  WHERE job_id = ? LIMIT 1001) counted
;

  SELECT COUNT(*) AS jobs
  FROM (SELECT 1 AS one FROM sql_queue_edges  WHERE needs = ? AND job_id > 0 LIMIT 1001) counted
;

  SELECT e.job_id AS id, '' AS outcome,
         (SELECT n.queue FROM sql_queue_edges n  WHERE n.needs = e.job_id LIMIT 1) AS queue,
         (SELECT n.name FROM sql_queue_edges n  WHERE n.needs = e.job_id LIMIT 1) AS name
  FROM (
    SELECT job_id
    FROM sql_queue_edges 
    WHERE needs = ? AND job_id > 0
    ORDER BY needs
    LIMIT ?
  ) e
  ORDER BY e.job_id
;

  SELECT h.id, h.queue, h.state
  FROM sql_queue_history h 
  WHERE h.id IN (?)
  UNION ALL
  SELECT j.id, j.queue, CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END
  FROM sql_queue_jobs j 
  WHERE j.id IN (?)
;

  SELECT needs AS id, queue, name, outcome
  FROM sql_queue_edges 
  WHERE job_id = ?
  ORDER BY needs
  LIMIT ?
;

-- flows.settle

  DELETE FROM sql_queue_jobs
  WHERE (id IN (?)) AND claim_id = ?
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?, ?, ?)
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged, :now AS at
  FROM sql_queue_jobs 
  WHERE id IN (?) AND state = 'blocked'
  ORDER BY id 
;

  SELECT j.id, 
         (
           SELECT o.needs
           FROM sql_queue_edges o 
           WHERE o.job_id = j.id AND o.state = 'open'
           LIMIT 1
         ) AS open_edge,
         (
           SELECT f.needs
           FROM sql_queue_edges f 
           WHERE f.job_id = j.id AND f.state = 'failed'
           LIMIT 1
         ) AS failed_edge
  FROM sql_queue_jobs j 
  WHERE j.id IN (?) AND j.state = 'blocked'
;

  SELECT job_id AS id, MAX(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) AS has_failed
  FROM sql_queue_edges 
  WHERE needs IN (?) AND job_id > 0
  GROUP BY job_id
;

  SELECT needs
  FROM sql_queue_edges 
  WHERE job_id = ? AND state = 'open'
  ORDER BY needs DESC
  LIMIT 1
;

  UPDATE sql_queue_edges 
  SET state = CASE WHEN ? = 'completed' OR on_failure = 'run' THEN 'done' WHEN on_failure = 'wait' THEN 'open' ELSE 'failed' END, outcome = ?, error = CASE needs WHEN ? THEN ? END,
      result = NULL
  WHERE (needs IN (?)) AND state = 'open'
;

  UPDATE sql_queue_jobs 
  SET state = 'scheduled', runnable = 0, run_at = :now + ?, due_at = NULL
  WHERE id = ? AND state = 'blocked'
;

  UPDATE sql_queue_jobs 
  SET state = 'waiting', runnable = CASE WHEN EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) THEN 2 ELSE CASE WHEN group_key = '' THEN 1 ELSE 5 END END, due_at = :now
  WHERE (id IN (?)) AND state = 'blocked'
;

-- flows.sweep

  DELETE FROM sql_queue_jobs
  WHERE (id IN (?)) AND claim_id = ?
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?, ?, ?)
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged, :now AS at
  FROM sql_queue_jobs 
  WHERE id IN (?) AND state = 'blocked'
  ORDER BY id 
;

  SELECT j.id, 
         (
           SELECT o.needs
           FROM sql_queue_edges o 
           WHERE o.job_id = j.id AND o.state = 'open'
           LIMIT 1
         ) AS open_edge,
         (
           SELECT f.needs
           FROM sql_queue_edges f 
           WHERE f.job_id = j.id AND f.state = 'failed'
           LIMIT 1
         ) AS failed_edge
  FROM sql_queue_jobs j 
  WHERE j.id IN (?) AND j.state = 'blocked'
;

  SELECT j.id, j.group_key, j.priority, 
         (
           SELECT o.needs
           FROM sql_queue_edges o 
           WHERE o.job_id = j.id AND o.state = 'open'
           LIMIT 1
         ) AS open_edge,
         (
           SELECT f.needs
           FROM sql_queue_edges f 
           WHERE f.job_id = j.id AND f.state = 'failed'
           LIMIT 1
         ) AS failed_edge
  FROM sql_queue_jobs j 
  WHERE j.queue = ? AND j.runnable = 6 AND j.run_at IS NULL AND j.state = 'blocked'
    AND (j.group_key > ? OR (j.group_key = ? AND j.priority > ?)
         OR (j.group_key = ? AND j.priority = ? AND j.id > ?))
  ORDER BY j.group_key, j.priority, j.id
  LIMIT ?
;

  SELECT job_id AS id, MAX(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) AS has_failed
  FROM sql_queue_edges 
  WHERE needs IN (?) AND job_id > 0
  GROUP BY job_id
;

  SELECT needs
  FROM sql_queue_edges 
  WHERE job_id = ? AND state = 'open'
  ORDER BY needs DESC
  LIMIT 1
;

  UPDATE sql_queue_edges 
  SET state = CASE WHEN ? = 'completed' OR on_failure = 'run' THEN 'done' WHEN on_failure = 'wait' THEN 'open' ELSE 'failed' END, outcome = ?, error = CASE needs WHEN ? THEN ? END,
      result = NULL
  WHERE (needs IN (?)) AND state = 'open'
;

  UPDATE sql_queue_jobs 
  SET state = 'waiting', runnable = CASE WHEN EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) THEN 2 ELSE CASE WHEN group_key = '' THEN 1 ELSE 5 END END, due_at = :now
  WHERE (id IN (?)) AND state = 'blocked'
;

  WITH RECURSIVE names (queue) AS (
    SELECT MIN(queue)
    FROM sql_queue_jobs
    UNION ALL
    SELECT (SELECT MIN(t.queue) FROM sql_queue_jobs t WHERE t.queue > names.queue)
    FROM names
    WHERE names.queue IS NOT NULL
  )
  SELECT queue
  FROM names
  WHERE queue IS NOT NULL
;

-- groups.counts

  SELECT ? AS group_key, COUNT(*) AS jobs
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = ?
    LIMIT ?
  ) AS range_0_1 UNION ALL 
  SELECT ? AS group_key, COUNT(*) AS jobs
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 2 AND run_at IS NULL AND group_key = ?
    LIMIT ?
  ) AS range_0_2 UNION ALL 
  SELECT ? AS group_key, COUNT(*) AS jobs
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key = ?
    LIMIT ?
  ) AS range_0_3 UNION ALL 
  SELECT ? AS group_key, COUNT(*) AS jobs
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 4 AND run_at IS NULL AND group_key = ?
    LIMIT ?
  ) AS range_0_4 UNION ALL 
  SELECT ? AS group_key, COUNT(*) AS jobs
  FROM (
    SELECT id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key = ?
    LIMIT ?
  ) AS range_0_5
;

  SELECT group_key, COUNT(*) AS jobs
  FROM (
    SELECT group_key
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable IN (0, 1) AND run_at IS NOT NULL
    LIMIT ?
  ) AS scheduled
  WHERE group_key IN (?)
  GROUP BY group_key
;

  SELECT group_key, COUNT(*) AS jobs
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id <> 0 AND queue = ? AND group_key IN (?)
  GROUP BY group_key
;

  SELECT job_ids
  FROM sql_queue_claims
  WHERE (? IS NULL OR queue = ?) AND (? IS NULL OR owner = ?)
    AND (? IS NULL OR worker_id = ?)
;

-- groups.list

  SELECT group_key, state, turn, head_priority, head_id, active_ids, overrides, rate_until_us, rate_used, CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END AS rest_until, :now AS at
  FROM sql_queue_groups 
  WHERE queue = ? AND group_key > ? AND (? IS NULL OR state = ?)
  ORDER BY group_key
  LIMIT ?
;

-- groups.prune

  DELETE FROM sql_queue_groups
  WHERE queue = ? AND group_key = ?
;

  SELECT active_ids
  FROM sql_queue_groups 
  WHERE queue = ? AND group_key = ? AND state = 'idle' AND turn < :now - 3600000 AND overrides IS NULL AND rest_until < :now AND rate_until_us < :now * 1000
  
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE id IN (?) AND queue = ?
;

  SELECT id, group_key
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id <> 0 AND queue = ? AND group_key <> ''
;

  SELECT job_ids
  FROM sql_queue_claims
  WHERE (? IS NULL OR queue = ?) AND (? IS NULL OR owner = ?)
    AND (? IS NULL OR worker_id = ?)
;

  SELECT queue, group_key
  FROM sql_queue_groups 
  WHERE queue >= ? AND (queue > ? OR group_key > ?) AND state = 'idle' AND turn < :now - 3600000 AND overrides IS NULL AND rest_until < :now AND rate_until_us < :now * 1000
  ORDER BY queue, group_key
  LIMIT ?
;

-- groups.rest

  INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id, active_ids)
  VALUES (?, ?, 'ready', :now, -32769, 0, '[]')
  ON CONFLICT (queue, group_key) DO NOTHING
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT group_key, state, turn, head_priority, head_id, active_ids, overrides, rate_until_us, rate_used, CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END AS rest_until, :now AS at
  FROM sql_queue_groups 
  WHERE queue = ? AND group_key = ? 
;

  UPDATE sql_queue_groups 
  SET rest_until = ?, rest_ms = ?
  WHERE queue = ? AND group_key = ?
;

-- groups.setLimits

  INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id, active_ids)
  VALUES (?, ?, 'ready', :now, -32769, 0, '[]')
  ON CONFLICT (queue, group_key) DO NOTHING
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT group_key, state, turn, head_priority, head_id, active_ids, overrides, rate_until_us, rate_used, CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END AS rest_until, :now AS at
  FROM sql_queue_groups 
  WHERE queue = ? AND group_key = ? 
;

  UPDATE sql_queue_groups 
  SET overrides = ?, rate_until_us = CASE WHEN ? = 1 THEN rate_until_us ELSE 0 END,
      rate_used = CASE WHEN ? = 1 THEN rate_used ELSE 0 END
  WHERE queue = ? AND group_key = ?
;

-- groups.setPaused

  INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id, active_ids)
  VALUES (?, ?, 'ready', :now, -32769, 0, '[]')
  ON CONFLICT (queue, group_key) DO NOTHING
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT group_key, state, turn, head_priority, head_id, active_ids, overrides, rate_until_us, rate_used, CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END AS rest_until, :now AS at
  FROM sql_queue_groups 
  WHERE queue = ? AND group_key = ? 
;

  UPDATE sql_queue_groups 
  SET state = ?, turn = ?
  WHERE queue = ? AND group_key = ?
;

-- jobLogs.deleteJobLogs

  DELETE FROM sql_queue_logs
  WHERE job_id = ? AND number >= 1 AND logged_at > 0
;

  DELETE FROM sql_queue_progress
  WHERE job_id IN (?) AND updated_at > 0
;

-- jobLogs.progressOf

  SELECT job_id, value
  FROM sql_queue_progress
  WHERE job_id IN (?) AND value IS NOT NULL
;

-- jobLogs.pruneJobLogs

  DELETE FROM sql_queue_logs
  WHERE job_id = ? AND number >= 1 AND logged_at > 0
;

  DELETE FROM sql_queue_progress
  WHERE job_id IN (?) AND updated_at > 0
;

  SELECT id, CASE WHEN expires_at > :now THEN expires_at ELSE :now END + ? AS at
  FROM sql_queue_history
  WHERE id IN (?)
  UNION ALL
  SELECT id, :now + ? AS at
  FROM sql_queue_jobs
  WHERE id IN (?)
;

  SELECT job_id
  FROM sql_queue_progress 
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT ? 
;

  UPDATE sql_queue_progress 
  SET expires_at = ?
  WHERE job_id IN (?)
;

-- jobLogs.writeJobLogs

  INSERT INTO sql_queue_logs (job_id, number, logged_at, line)
  VALUES (?, ?, :now - ?, ?)
;

  INSERT INTO sql_queue_progress (job_id, value, lines_logged, updated_at, expires_at)
  VALUES (?, ?, ?, :now, :now + 600000)
;

  REPLACE INTO sql_queue_progress (job_id, value, lines_logged, updated_at, expires_at)
  VALUES (?, ?, ?, :now, :now + 600000)
;

  SELECT id
  FROM sql_queue_claims
  WHERE id IN (?) AND lease_until > 0
;

  SELECT job_id, value, lines_logged
  FROM sql_queue_progress 
  WHERE job_id IN (?)
  ORDER BY job_id 
;

-- jobs.cancelRequests

  SELECT id, cancel_requests
  FROM sql_queue_claims
  WHERE id IN (?) AND cancel_requests IS NOT NULL
;

-- jobs.chooseStrategies

  INSERT OR IGNORE INTO sql_queue_queues (queue, paused, created_at)
  VALUES (?, 0, :now)
;

  SELECT queue
  FROM sql_queue_queues
  WHERE queue IN (?)
;

-- jobs.claim by update

  INSERT INTO sql_queue_claims (id, worker_id, queue, job_ids, start_limit, lock_id, lease_ms, lease_until, claimed_at, dead_letter, last_priority, last_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, :now + ?, :now, ?, ?, ?)
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id, active_ids)
  VALUES (?, ?, 'ready', :now, ?, ?, '[]')
  ON CONFLICT (queue, group_key) DO UPDATE SET
    turn = CASE WHEN sql_queue_groups.state IN ('idle') THEN excluded.turn ELSE sql_queue_groups.turn END,
    state = CASE WHEN sql_queue_groups.state IN ('idle') THEN 'ready' ELSE sql_queue_groups.state END,
    head_id = CASE WHEN excluded.head_priority < sql_queue_groups.head_priority
                     OR (excluded.head_priority = sql_queue_groups.head_priority AND excluded.head_id < sql_queue_groups.head_id)
                   THEN excluded.head_id ELSE sql_queue_groups.head_id END,
    head_priority = CASE WHEN excluded.head_priority < sql_queue_groups.head_priority
                         THEN excluded.head_priority ELSE sql_queue_groups.head_priority END
;

  INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id, active_ids)
  VALUES (?, ?, 'ready', :now, ?, ?, '[]')
  ON CONFLICT (queue, group_key) DO UPDATE SET
    turn = CASE WHEN sql_queue_groups.state IN ('idle', 'blocked') THEN excluded.turn ELSE sql_queue_groups.turn END,
    state = CASE WHEN sql_queue_groups.state IN ('idle', 'blocked') THEN 'ready' ELSE sql_queue_groups.state END,
    head_id = CASE WHEN excluded.head_priority < sql_queue_groups.head_priority
                     OR (excluded.head_priority = sql_queue_groups.head_priority AND excluded.head_id < sql_queue_groups.head_id)
                   THEN excluded.head_id ELSE sql_queue_groups.head_id END,
    head_priority = CASE WHEN excluded.head_priority < sql_queue_groups.head_priority
                         THEN excluded.head_priority ELSE sql_queue_groups.head_priority END
;

  INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id, active_ids, rate_until_us, rate_used)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (queue, group_key) DO UPDATE SET
    state = excluded.state, turn = excluded.turn, head_priority = excluded.head_priority,
    head_id = excluded.head_id, active_ids = excluded.active_ids, rate_until_us = excluded.rate_until_us,
    rate_used = excluded.rate_used
;

  SELECT  g.group_key, g.state, g.turn, g.head_priority, g.head_id, g.active_ids, g.overrides, g.rate_until_us, g.rate_used, g.rest_until, g.rest_ms
  FROM (
  SELECT queue, group_key
  FROM sql_queue_groups 
  WHERE queue = ? AND state = 'ready' AND turn >= ? AND (turn > ? OR group_key > ?)
  ORDER BY queue, state, turn, group_key
  LIMIT ?) AS c
  JOIN sql_queue_groups g  ON g.queue = c.queue AND g.group_key = c.group_key
  WHERE g.state = 'ready'
  LIMIT ? 
;

  SELECT 1 AS one
  FROM sql_queue_groups 
  WHERE queue = ? AND state = 'ready'
  LIMIT 1
;

  SELECT COUNT(*) AS jobs
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND queue = ? AND state = 'active'
;

  SELECT MIN(turn) AS turn, :now AS at
  FROM sql_queue_groups 
  WHERE queue = ? AND state = 'blocked' AND turn > :now
;

  SELECT declared, overrides, rate_until_us, rate_used, rest_until, rest_ms
  FROM sql_queue_limits 
  WHERE queue = ? 
;

  SELECT group_key
  FROM sql_queue_groups 
  WHERE queue = ? AND group_key IN (?)
;

  SELECT group_key
  FROM sql_queue_groups 
  WHERE queue = ? AND state IN ('blocked', 'ready') AND turn > :now + 601000
  LIMIT ?
;

  SELECT group_key, priority, id
  FROM (
    SELECT group_key, priority, id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key = ? AND state = 'waiting'
      AND ((priority = ? AND id > ?) OR priority > ?)
    ORDER BY priority, id
    LIMIT ?
  ) AS head_n UNION ALL 
  SELECT group_key, priority, id
  FROM (
    SELECT group_key, priority, id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key = ? AND state = 'waiting'
      AND ((priority = ? AND id > ?) OR priority > ?)
    ORDER BY priority, id
    LIMIT ?
  ) AS head_n UNION ALL 
  SELECT group_key, priority, id
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key IN (?) AND state = 'waiting'
;

  SELECT group_key, priority, id
  FROM (
    SELECT group_key, priority, id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key = ? AND state = 'waiting'
      AND ((priority = ? AND id > ?) OR priority > ?)
    ORDER BY priority, id
    LIMIT ?
  ) AS head_n UNION ALL 
  SELECT group_key, priority, id
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key IN (?) AND state = 'waiting'
;

  SELECT group_key, state
  FROM sql_queue_groups 
  WHERE queue = ? AND group_key IN (?)
    AND ((state = 'blocked' AND turn <= :now) OR (state IN ('blocked', 'ready') AND turn > :now + 601000))
  ORDER BY group_key 
;

  SELECT group_key, state
  FROM sql_queue_groups 
  WHERE queue = ? AND group_key IN (?)
  ORDER BY group_key 
;

  SELECT group_key, turn
  FROM sql_queue_groups 
  WHERE queue = ? AND state = 'blocked' AND turn <= :now AND turn >= ? AND (turn > ? OR group_key > ?)
  ORDER BY queue, state, turn, group_key
  LIMIT ?
;

  SELECT id
  FROM sql_queue_jobs
  WHERE claim_id = ?
  ORDER BY id
;

  SELECT id, group_key
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND queue = ? AND (state = 'active' OR (state = 'scheduled' AND (attempt > 0 OR due_at IS NOT NULL) AND ? = 1))
;

  SELECT id, group_key
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id <> 0 AND queue = ? AND group_key <> ''
;

  SELECT id, group_key, priority, runnable
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND queue = ? AND state = 'waiting' AND runnable IN (1, 4, 5) AND run_at IS NULL
  ORDER BY id 
;

  SELECT id, group_key, priority, runnable
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL  AND state = 'waiting'
  ORDER BY group_key, priority, id
  LIMIT ?
;

  SELECT id, group_key, priority, runnable
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 4 AND run_at IS NULL  AND state = 'waiting'
  ORDER BY group_key, priority, id
  LIMIT ?
;

  SELECT id, group_key, priority, runnable
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 5 AND run_at IS NULL  AND state = 'waiting'
  ORDER BY group_key, priority, id
  LIMIT ?
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND queue = ? AND state = 'waiting' AND run_at IS NULL AND runnable IN (3, 5)
  
;

  SELECT id, queue, job_ids
  FROM sql_queue_claims
  WHERE queue = ?
;

  SELECT job_ids
  FROM sql_queue_claims
  WHERE (? IS NULL OR queue = ?) AND (? IS NULL OR owner = ?)
    AND (? IS NULL OR worker_id = ?)
;

  SELECT turn, group_key
  FROM sql_queue_groups 
  WHERE queue = ? AND state = 'ready' AND turn >= ? AND (turn > ? OR group_key > ?)
  ORDER BY queue, state, turn, group_key
  LIMIT 1 OFFSET ?
;

  UPDATE sql_queue_groups 
  SET state = 'ready', turn = CASE WHEN turn > :now + 601000 THEN :now ELSE turn END
  WHERE queue = ? AND group_key = ?
;

  UPDATE sql_queue_jobs
  SET state = 'active', claim_id = ?, attempt = CASE WHEN attempt < 2147483647 THEN attempt + 1 ELSE 2147483647 END,
      max_attempts = COALESCE(NULLIF(max_attempts, 0), ?)
  WHERE id IN (
    SELECT id
    FROM sql_queue_jobs INDEXED BY sql_queue_jobs_queue
    WHERE queue = ? AND runnable = 1 AND state = 'waiting' AND run_at IS NULL AND group_key = ''
    ORDER BY priority, id ASC
    LIMIT ?
  )
  RETURNING id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key
;

  UPDATE sql_queue_jobs
  SET state = 'active', claim_id = ?, attempt = CASE WHEN attempt < 2147483647 THEN attempt + 1 ELSE 2147483647 END,
      max_attempts = COALESCE(NULLIF(max_attempts, 0), ?)
  WHERE id IN (
    SELECT id
    FROM sql_queue_jobs INDEXED BY sql_queue_jobs_queue
    WHERE queue = ? AND runnable = 1 AND state = 'waiting' AND run_at IS NULL AND group_key = ''
    ORDER BY priority, id DESC
    LIMIT ?
  )
  RETURNING id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key
;

  UPDATE sql_queue_jobs 
  SET runnable = 3,
      group_key = CASE WHEN RTRIM(group_key) = '' THEN 'default' ELSE RTRIM(group_key) END
  WHERE (id IN (?))
;

  UPDATE sql_queue_jobs  
  SET state = 'active', claim_id = ?, attempt = CASE WHEN attempt < 2147483647 THEN attempt + 1 ELSE 2147483647 END,
      max_attempts = COALESCE(NULLIF(max_attempts, 0), ?)
  WHERE (id IN (?)) AND state = 'waiting'
;

  UPDATE sql_queue_limits 
  SET claim_count = claim_count + 1
  WHERE queue = ?
;

  UPDATE sql_queue_limits 
  SET claim_count = claim_count + 1,
      rate_until_us = ? + CASE
        WHEN rate_until_us BETWEEN :now * 1000 + ? AND :now * 1000 + ? THEN rate_until_us
        ELSE :now * 1000 + ? END
  WHERE queue = ?
;

  UPDATE sql_queue_limits 
  SET claim_count = claim_count + 1,
      rate_used = CASE WHEN rate_until_us = (:now - :now % ? + ?) * 1000 THEN rate_used ELSE 0 END + ?,
      rate_until_us = (:now - :now % ? + ?) * 1000
  WHERE queue = ?
;
SELECT :now AS at
;

-- jobs.cleanUp

  DELETE FROM sql_queue_stages
  WHERE job_id = ?
;

  SELECT MAX(batch.id) AS last, COUNT(*) AS examined, MIN(CASE WHEN j.id IS NULL THEN batch.id END) AS orphan
  FROM (
    SELECT job_id AS id
    FROM sql_queue_stages
    WHERE job_id > ?
    ORDER BY job_id
    LIMIT ?
  ) AS batch
  LEFT JOIN sql_queue_jobs j ON j.id = batch.id
;

  SELECT MAX(j.id) AS last, COUNT(*) AS scanned, MIN(CASE WHEN 
  (j.state NOT IN ('waiting', 'scheduled', 'active', 'blocked')
   OR (j.state = 'blocked' AND (j.run_at IS NOT NULL OR j.claim_id <> 0 OR j.runnable <> 6))
   OR (j.state = 'active' AND c.id IS NULL)
   OR (j.state = 'scheduled' AND (j.run_at IS NULL OR j.claim_id <> 0 OR j.runnable <> 0))
   OR j.run_at > 8640000000000000
   OR (j.state = 'waiting' AND j.run_at IS NOT NULL AND j.runnable NOT IN (0, 1))
   OR (j.state = 'waiting' AND j.run_at IS NULL AND j.runnable = 1 AND j.group_key <> '')
   OR (j.state = 'waiting' AND j.run_at IS NULL AND j.runnable = 3 AND j.group_key <> '' AND NOT EXISTS (
     SELECT 1 FROM sql_queue_groups g WHERE g.queue = j.queue AND g.group_key = j.group_key AND g.state <> 'idle'))
   OR (j.state = 'waiting' AND j.run_at IS NULL AND j.runnable <> 1 AND NOT (j.runnable IN (3, 4, 5) AND j.group_key <> '')
       AND NOT (j.runnable = 2 AND EXISTS (SELECT 1 FROM sql_queue_stages s WHERE s.job_id = j.id)))) THEN j.id END) AS stuck
  FROM (
    SELECT id, queue, state, run_at, runnable, claim_id, group_key
    FROM sql_queue_jobs 
    WHERE id > ? AND id <= 9007199254740991
    ORDER BY id
    LIMIT ?
  ) AS j
  LEFT JOIN sql_queue_claims c ON c.id = j.claim_id
;

  SELECT id
  FROM sql_queue_claims
  WHERE id IN (?)
;

  SELECT id
  FROM sql_queue_jobs
  WHERE id IN (?)
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, state, run_at, runnable, claim_id
  FROM sql_queue_jobs 
  WHERE (id IN (?))
  ORDER BY id 
;

  SELECT j.id
  FROM sql_queue_jobs j 
  LEFT JOIN sql_queue_claims c ON c.id = j.claim_id
  WHERE j.id >= ? AND j.id <= ? AND 
  (j.state NOT IN ('waiting', 'scheduled', 'active', 'blocked')
   OR (j.state = 'blocked' AND (j.run_at IS NOT NULL OR j.claim_id <> 0 OR j.runnable <> 6))
   OR (j.state = 'active' AND c.id IS NULL)
   OR (j.state = 'scheduled' AND (j.run_at IS NULL OR j.claim_id <> 0 OR j.runnable <> 0))
   OR j.run_at > 8640000000000000
   OR (j.state = 'waiting' AND j.run_at IS NOT NULL AND j.runnable NOT IN (0, 1))
   OR (j.state = 'waiting' AND j.run_at IS NULL AND j.runnable = 1 AND j.group_key <> '')
   OR (j.state = 'waiting' AND j.run_at IS NULL AND j.runnable = 3 AND j.group_key <> '' AND NOT EXISTS (
     SELECT 1 FROM sql_queue_groups g WHERE g.queue = j.queue AND g.group_key = j.group_key AND g.state <> 'idle'))
   OR (j.state = 'waiting' AND j.run_at IS NULL AND j.runnable <> 1 AND NOT (j.runnable IN (3, 4, 5) AND j.group_key <> '')
       AND NOT (j.runnable = 2 AND EXISTS (SELECT 1 FROM sql_queue_stages s WHERE s.job_id = j.id))))
  ORDER BY j.id
  LIMIT ?
;

  SELECT job_id
  FROM sql_queue_stages
  WHERE job_id IN (?)
  ORDER BY job_id 
;

  SELECT job_id AS id
  FROM sql_queue_stages 
  WHERE job_id = ? 
;

  SELECT s.job_id AS id
  FROM sql_queue_stages s
  LEFT JOIN sql_queue_jobs j ON j.id = s.job_id
  WHERE s.job_id >= ? AND s.job_id <= ? AND j.id IS NULL
  ORDER BY s.job_id
  LIMIT ?
;

  UPDATE sql_queue_jobs 
  SET runnable = 4
  WHERE id = ?
;

-- jobs.complete

  DELETE FROM sql_queue_claims
  WHERE id IN (?)
;

  DELETE FROM sql_queue_claims
  WHERE id IN (?) AND cancel_requests IS NULL
;

  DELETE FROM sql_queue_jobs
  WHERE (id IN (?)) AND claim_id = ?
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  INSERT INTO sql_queue_jobs (queue, name, state, runnable, priority, max_attempts, payload, headers, options)
  VALUES (?, ?, 'waiting', 1, ?, ?, ?, ?, ?)
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  SELECT id, queue, name, 'completed', priority, attempt, max_attempts, ?,
         created_at, :now - ?, :now, :now + ?, payload, headers, CASE WHEN group_key = '' THEN options ELSE JSON_SET(COALESCE(options, '{}'), '$.group', group_key) END, NULL, NULL,
         due_at, ?
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND claim_id = ?
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?, ?, ?)
;

  SELECT id
  FROM sql_queue_claims 
  WHERE id = ? AND cancel_requests IS NULL 
;

  SELECT id
  FROM sql_queue_jobs
  WHERE id IN (?)
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND claim_id = ?
  ORDER BY id 
;

  SELECT id, cancel_requests
  FROM sql_queue_claims 
  WHERE id IN (?)
  ORDER BY id 
;

  SELECT id, worker_id, attempt
  FROM sql_queue_history
  WHERE id IN (?)
;

  UPDATE sql_queue_claims 
  SET start_limit = ?
  WHERE id = ? AND lease_until > 0
;

  UPDATE sql_queue_claims 
  SET start_limit = ?
  WHERE id = ? AND lease_until > 0 AND cancel_requests IS NULL
;

  UPDATE sql_queue_edges 
  SET state = CASE WHEN ? = 'completed' OR on_failure = 'run' THEN 'done' WHEN on_failure = 'wait' THEN 'open' ELSE 'failed' END, outcome = ?, error = CASE needs WHEN ? THEN ? END,
      result = NULL
  WHERE (needs IN (?)) AND state = 'open'
;

  UPDATE sql_queue_edges 
  SET state = CASE WHEN ? = 'completed' OR on_failure = 'run' THEN 'done' WHEN on_failure = 'wait' THEN 'open' ELSE 'failed' END, outcome = ?, error = CASE needs WHEN ? THEN ? WHEN ? THEN ? END,
      result = NULL
  WHERE (needs IN (?)) AND state = 'open'
;

  UPDATE sql_queue_edges 
  SET state = CASE WHEN ? = 'completed' OR on_failure = 'run' THEN 'done' WHEN on_failure = 'wait' THEN 'open' ELSE 'failed' END, outcome = ?, result = CASE needs WHEN ? THEN ? END,
      error = NULL
  WHERE (needs IN (?)) AND state = 'open'
;

  UPDATE sql_queue_edges 
  SET state = CASE WHEN ? = 'completed' OR on_failure = 'run' THEN 'done' WHEN on_failure = 'wait' THEN 'open' ELSE 'failed' END, outcome = ?, result = CASE needs WHEN ? THEN ? WHEN ? THEN ? END,
      error = NULL
  WHERE (needs IN (?)) AND state = 'open'
;

  UPDATE sql_queue_edges 
  SET state = CASE WHEN ? = 'completed' OR on_failure = 'run' THEN 'done' WHEN on_failure = 'wait' THEN 'open' ELSE 'failed' END, outcome = ?, result = NULL, error = NULL
  WHERE (needs IN (?)) AND state = 'open'
;

  UPDATE sql_queue_groups 
  SET turn = CASE WHEN state = 'blocked' THEN :now ELSE turn END,
      state = CASE WHEN state = 'blocked' THEN 'ready' ELSE state END
  WHERE queue = ? AND group_key IN (?)
;

  UPDATE sql_queue_jobs 
  SET options = JSON_REMOVE(options, '$.expiresInMs')
  WHERE (id IN (?)) AND claim_id = ?
;

  UPDATE sql_queue_jobs 
  SET state = 'blocked', runnable = 6, claim_id = 0, attempt = CASE WHEN attempt > 0 THEN attempt - ? ELSE 0 END
  WHERE (id IN (?)) AND claim_id = ?
;

  UPDATE sql_queue_jobs 
  SET state = 'scheduled', runnable = 0, run_at = COALESCE(?, :now + ?), claim_id = 0,
      due_at = CASE WHEN group_key = '' THEN NULL ELSE COALESCE(due_at, created_at) END, attempt = CASE WHEN attempt > 0 THEN attempt - ? ELSE 0 END, error = COALESCE(?, error)
  WHERE (id IN (?)) AND claim_id = ?
;

  UPDATE sql_queue_jobs 
  SET state = 'waiting', runnable = CASE WHEN group_key = '' OR runnable = 2 THEN runnable ELSE 5 END, claim_id = 0, due_at = CASE WHEN ? = 0 THEN :now ELSE due_at END, attempt = CASE WHEN attempt > 0 THEN attempt - ? ELSE 0 END, error = COALESCE(?, error)
  WHERE (id IN (?)) AND claim_id = ?
;

-- jobs.completeAndClaim by update

  DELETE FROM sql_queue_claims
  WHERE id IN (?)
;

  DELETE FROM sql_queue_claims
  WHERE id IN (?) AND cancel_requests IS NULL
;

  DELETE FROM sql_queue_jobs
  WHERE (id IN (?)) AND claim_id = ?
;

  INSERT INTO sql_queue_claims (id, worker_id, queue, job_ids, start_limit, lock_id, lease_ms, lease_until, claimed_at, dead_letter, last_priority, last_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, :now + ?, :now, ?, ?, ?)
;

  INSERT INTO sql_queue_groups (queue, group_key, state, turn, head_priority, head_id, active_ids, rate_until_us, rate_used)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (queue, group_key) DO UPDATE SET
    state = excluded.state, turn = excluded.turn, head_priority = excluded.head_priority,
    head_id = excluded.head_id, active_ids = excluded.active_ids, rate_until_us = excluded.rate_until_us,
    rate_used = excluded.rate_used
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  SELECT id, queue, name, 'completed', priority, attempt, max_attempts, ?,
         created_at, :now - ?, :now, :now + ?, payload, headers, CASE WHEN group_key = '' THEN options ELSE JSON_SET(COALESCE(options, '{}'), '$.group', group_key) END, NULL, NULL,
         due_at, ?
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND claim_id = ?
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?, ?, ?)
;

  SELECT  g.group_key, g.state, g.turn, g.head_priority, g.head_id, g.active_ids, g.overrides, g.rate_until_us, g.rate_used, g.rest_until, g.rest_ms
  FROM (
  SELECT queue, group_key
  FROM sql_queue_groups 
  WHERE queue = ? AND state = 'ready' AND turn >= ? AND (turn > ? OR group_key > ?)
  ORDER BY queue, state, turn, group_key
  LIMIT ?) AS c
  JOIN sql_queue_groups g  ON g.queue = c.queue AND g.group_key = c.group_key
  WHERE g.state = 'ready'
  LIMIT ? 
;

  SELECT declared, overrides, rate_until_us, rate_used, rest_until, rest_ms
  FROM sql_queue_limits 
  WHERE queue = ? 
;

  SELECT group_key, priority, id
  FROM (
    SELECT group_key, priority, id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key = ? AND state = 'waiting'
      AND ((priority = ? AND id > ?) OR priority > ?)
    ORDER BY priority, id
    LIMIT ?
  ) AS head_n UNION ALL 
  SELECT group_key, priority, id
  FROM (
    SELECT group_key, priority, id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key = ? AND state = 'waiting'
      AND ((priority = ? AND id > ?) OR priority > ?)
    ORDER BY priority, id
    LIMIT ?
  ) AS head_n UNION ALL 
  SELECT group_key, priority, id
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key IN (?) AND state = 'waiting'
;

  SELECT group_key, priority, id
  FROM (
    SELECT group_key, priority, id
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 3 AND run_at IS NULL AND group_key = ? AND state = 'waiting'
      AND ((priority = ? AND id > ?) OR priority > ?)
    ORDER BY priority, id
    LIMIT ?
  ) AS head_n UNION ALL 
  SELECT group_key, priority, id
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 5 AND run_at IS NULL AND group_key IN (?) AND state = 'waiting'
;

  SELECT id
  FROM sql_queue_claims 
  WHERE id = ? AND cancel_requests IS NULL 
;

  SELECT id
  FROM sql_queue_jobs
  WHERE id IN (?)
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND claim_id = ?
  ORDER BY id 
;

  SELECT id, cancel_requests
  FROM sql_queue_claims 
  WHERE id IN (?)
  ORDER BY id 
;

  SELECT id, group_key
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND queue = ? AND (state = 'active' OR (state = 'scheduled' AND (attempt > 0 OR due_at IS NOT NULL) AND ? = 1))
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND queue = ? AND state = 'waiting' AND run_at IS NULL AND runnable IN (3, 5)
  
;

  SELECT id, queue, job_ids
  FROM sql_queue_claims
  WHERE queue = ?
;

  SELECT id, worker_id, attempt
  FROM sql_queue_history
  WHERE id IN (?)
;

  UPDATE sql_queue_claims 
  SET start_limit = ?
  WHERE id = ? AND lease_until > 0
;

  UPDATE sql_queue_groups 
  SET turn = CASE WHEN state = 'blocked' THEN :now ELSE turn END,
      state = CASE WHEN state = 'blocked' THEN 'ready' ELSE state END
  WHERE queue = ? AND group_key IN (?)
;

  UPDATE sql_queue_jobs
  SET state = 'active', claim_id = ?, attempt = CASE WHEN attempt < 2147483647 THEN attempt + 1 ELSE 2147483647 END,
      max_attempts = COALESCE(NULLIF(max_attempts, 0), ?)
  WHERE id IN (
    SELECT id
    FROM sql_queue_jobs INDEXED BY sql_queue_jobs_queue
    WHERE queue = ? AND runnable = 1 AND state = 'waiting' AND run_at IS NULL AND group_key = ''
    ORDER BY priority, id ASC
    LIMIT ?
  )
  RETURNING id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key
;

  UPDATE sql_queue_jobs
  SET state = 'active', claim_id = ?, attempt = CASE WHEN attempt < 2147483647 THEN attempt + 1 ELSE 2147483647 END,
      max_attempts = COALESCE(NULLIF(max_attempts, 0), ?)
  WHERE id IN (
    SELECT id
    FROM sql_queue_jobs INDEXED BY sql_queue_jobs_queue
    WHERE queue = ? AND runnable = 1 AND state = 'waiting' AND run_at IS NULL AND group_key = ''
    ORDER BY priority, id DESC
    LIMIT ?
  )
  RETURNING id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key
;

  UPDATE sql_queue_jobs 
  SET state = 'scheduled', runnable = 0, run_at = COALESCE(?, :now + ?), claim_id = 0,
      due_at = CASE WHEN group_key = '' THEN NULL ELSE COALESCE(due_at, created_at) END, attempt = CASE WHEN attempt > 0 THEN attempt - ? ELSE 0 END, error = COALESCE(?, error)
  WHERE (id IN (?)) AND claim_id = ?
;

  UPDATE sql_queue_jobs 
  SET state = 'waiting', runnable = CASE WHEN group_key = '' OR runnable = 2 THEN runnable ELSE 5 END, claim_id = 0, due_at = CASE WHEN ? = 0 THEN :now ELSE due_at END, attempt = CASE WHEN attempt > 0 THEN attempt - ? ELSE 0 END, error = COALESCE(?, error)
  WHERE (id IN (?)) AND claim_id = ?
;

  UPDATE sql_queue_jobs  
  SET state = 'active', claim_id = ?, attempt = CASE WHEN attempt < 2147483647 THEN attempt + 1 ELSE 2147483647 END,
      max_attempts = COALESCE(NULLIF(max_attempts, 0), ?)
  WHERE (id IN (?)) AND state = 'waiting'
;

  UPDATE sql_queue_limits 
  SET claim_count = claim_count + 1
  WHERE queue = ?
;
SELECT :now AS at
;

-- jobs.completeWith

  DELETE FROM sql_queue_jobs
  WHERE (id IN (?)) AND claim_id = ?
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  SELECT id, queue, name, 'completed', priority, attempt, max_attempts, ?,
         created_at, :now - ?, :now, :now + ?, payload, headers, CASE WHEN group_key = '' THEN options ELSE JSON_SET(COALESCE(options, '{}'), '$.group', group_key) END, NULL, NULL,
         due_at, ?
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND claim_id = ?
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?, ?, ?)
;

-- jobs.countWaiting

  SELECT COUNT(*) AS jobs
  FROM (
    SELECT 1
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable IN (1, 3, 4, 5) AND state = 'waiting' AND run_at IS NULL
    ORDER BY runnable, run_at, group_key, priority, id
    LIMIT ?
  ) AS some
;

-- jobs.deleteEmptyClaims

  DELETE FROM sql_queue_claims
  WHERE id = ?
;

  SELECT 1 AS one
  FROM sql_queue_jobs
  WHERE id IN (?) AND claim_id = ?
  LIMIT 1
;

  SELECT id, queue, job_ids
  FROM sql_queue_claims
  WHERE id IN (?)
;

-- jobs.enqueue

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  INSERT INTO sql_queue_jobs (queue, name, run_at, state, runnable, priority, max_attempts, created_at, payload, headers, options, group_key)
  VALUES (?, ?, COALESCE(?, :now + ?), ?, ?, ?, ?, :now, ?, ?, ?, ?)
;

  INSERT INTO sql_queue_jobs (queue, name, state, runnable, priority, max_attempts, payload, headers, options)
  VALUES (?, ?, 'waiting', 1, ?, ?, ?, ?, ?)
;

  INSERT INTO sql_queue_jobs (queue, payload)
  VALUES (?, ?)
;

  INSERT INTO sql_queue_jobs (queue, payload, options)
  VALUES (?, ?, ?)
;

  REPLACE INTO sql_queue_subjects (subject, job_id, expires_at, blobs)
  VALUES (?, ?, :now + 3600000, ?)
;

-- jobs.enqueueKeyed

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  INSERT INTO sql_queue_jobs (queue, name, run_at, state, runnable, priority, max_attempts, created_at, payload, headers, options, group_key)
  VALUES (?, ?, COALESCE(?, :now + ?), ?, ?, ?, ?, :now, ?, ?, ?, ?)
;

  INSERT INTO sql_queue_jobs (queue, name, state, runnable, priority, max_attempts, payload, headers, options)
  VALUES (?, ?, 'waiting', 1, ?, ?, ?, ?, ?)
;

  INSERT INTO sql_queue_jobs (queue, payload)
  VALUES (?, ?)
;

  INSERT INTO sql_queue_jobs (queue, payload, options)
  VALUES (?, ?, ?)
;

  INSERT OR IGNORE INTO sql_queue_keys (queue, key_hash, kept_until)
  VALUES (?, ?, :now + ?)
;

  SELECT DISTINCT job_id AS id
  FROM sql_queue_edges 
  WHERE job_id IN (?) AND fan_out > 0 
;

  SELECT id, queue, attempt, created_at, options, :now AS at
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id = 0
  ORDER BY id 
;

  SELECT job_id
  FROM sql_queue_stages
  WHERE job_id IN (?)
  ORDER BY job_id 
;

  SELECT job_id AS id
  FROM sql_queue_progress 
  WHERE job_id IN (?) 
;

  SELECT job_id AS id, MAX(CASE WHEN state = 'done' THEN 0 ELSE 1 END) AS waits
  FROM sql_queue_steps 
  WHERE job_id IN (?)
  GROUP BY job_id 
;

  SELECT k.key_hash, k.job_id, k.key_until, k.kept_until, :now AS at,
         k.expires_at > :now AND k.acquired_at <= :now + 60000 AS has_time,
         j.id AS alive, j.name, j.claim_id, j.attempt
  FROM sql_queue_keys k
  LEFT JOIN sql_queue_jobs j ON j.id = k.job_id AND j.queue = k.queue
  WHERE k.queue = ? AND k.key_hash IN (?)
;

  SELECT key_hash, job_id
  FROM sql_queue_keys 
  WHERE queue = ? AND key_hash IN (?)
  ORDER BY key_hash 
;

  UPDATE sql_queue_jobs 
  SET name = ?, run_at = COALESCE(?, :now + ?), state = ?, runnable = ?,
      priority = ?, attempt = 0, max_attempts = ?, payload = ?, headers = ?,
      options = ?, group_key = ?, error = NULL, due_at = CASE WHEN ? = 0 THEN NULL ELSE :now END
  WHERE id = ? AND claim_id = 0
;

  UPDATE sql_queue_keys 
  SET job_id = ?, key_until = ?, expires_at = :now + ?, acquired_at = :now,
      kept_until = :now + ?
  WHERE queue = ? AND key_hash = ?
;

-- jobs.enqueueKeyedInTransaction

  DELETE FROM sql_queue_stages
  WHERE job_id = ?
;

  INSERT INTO sql_queue_jobs (queue, payload, options)
  VALUES (?, ?, ?)
;

  INSERT OR IGNORE INTO sql_queue_keys (queue, key_hash, kept_until)
  VALUES (?, ?, :now + ?)
;

  SELECT DISTINCT job_id AS id
  FROM sql_queue_edges 
  WHERE job_id IN (?) AND fan_out > 0 
;

  SELECT id, queue, attempt, created_at, options, :now AS at
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id = 0
  ORDER BY id 
;

  SELECT job_id
  FROM sql_queue_stages
  WHERE job_id IN (?)
  ORDER BY job_id 
;

  SELECT job_id AS id
  FROM sql_queue_progress 
  WHERE job_id IN (?) 
;

  SELECT job_id AS id, MAX(CASE WHEN state = 'done' THEN 0 ELSE 1 END) AS waits
  FROM sql_queue_steps 
  WHERE job_id IN (?)
  GROUP BY job_id 
;

  SELECT k.key_hash, k.job_id, k.key_until, k.kept_until, :now AS at,
         k.expires_at > :now AND k.acquired_at <= :now + 60000 AS has_time,
         j.id AS alive, j.name, j.claim_id, j.attempt
  FROM sql_queue_keys k
  LEFT JOIN sql_queue_jobs j ON j.id = k.job_id AND j.queue = k.queue
  WHERE k.queue = ? AND k.key_hash IN (?)
;

  SELECT key_hash, job_id, kept_until
  FROM sql_queue_keys 
  WHERE queue = ? AND key_hash IN (?)
  ORDER BY key_hash 
;

  UPDATE sql_queue_jobs 
  SET name = ?, run_at = COALESCE(?, :now + ?), state = ?, runnable = ?,
      priority = ?, attempt = 0, max_attempts = ?, payload = ?, headers = ?,
      options = ?, group_key = ?, error = NULL, due_at = CASE WHEN ? = 0 THEN NULL ELSE :now END
  WHERE id = ? AND claim_id = 0
;

  UPDATE sql_queue_keys 
  SET job_id = ?, key_until = ?, expires_at = :now + ?, acquired_at = :now,
      kept_until = :now + ?
  WHERE queue = ? AND key_hash = ?
;

-- jobs.extend

  SELECT id, cancel_requests
  FROM sql_queue_claims
  WHERE id IN (?) AND lease_until > 0
;

  UPDATE sql_queue_claims 
  SET lease_until = :now + CASE WHEN lease_ms BETWEEN 0 AND 3153600000000 THEN lease_ms ELSE 30000 END
  WHERE id IN (?) AND lease_until > 0
;

-- jobs.handOff

  INSERT INTO sql_queue_claims (id, worker_id, queue, job_ids, start_limit, lease_ms, lease_until, claimed_at, owner, dead_letter)
  VALUES (?, ?, ?, ?, 1, ?, COALESCE(?, :now + ?), :now, ?, ?)
;

  SELECT id, cancel_requests
  FROM sql_queue_claims 
  WHERE id IN (?)
  ORDER BY id 
;

  UPDATE sql_queue_jobs 
  SET claim_id = ?
  WHERE id = ? AND claim_id = ?
;

-- jobs.promote

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  SELECT id, queue, name, attempt, priority
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND run_at <= :now AND claim_id = 0
  ORDER BY id 
;

  SELECT id, run_at, group_key, priority
  FROM (
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_0_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_0_1
  ) AS due
  ORDER BY run_at, group_key, priority, id
  LIMIT ?
;

  SELECT id, run_at, group_key, priority
  FROM (
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_0_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_0_1 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_1_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_1_1
  ) AS due
  ORDER BY run_at, group_key, priority, id
  LIMIT ?
;

  SELECT id, run_at, group_key, priority
  FROM (
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_0_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_0_1 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_1_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_1_1 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_2_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_2_1
  ) AS due
  ORDER BY run_at, group_key, priority, id
  LIMIT ?
;

  SELECT id, run_at, group_key, priority
  FROM (
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_0_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_0_1 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_1_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_1_1 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_2_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_2_1 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_3_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_3_1
  ) AS due
  ORDER BY run_at, group_key, priority, id
  LIMIT ?
;

  SELECT id, run_at, group_key, priority
  FROM (
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_0_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_0_1 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_1_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_1_1 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_2_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_2_1 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_3_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_3_1 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_4_0 UNION ALL 
    SELECT id, run_at, group_key, priority
    FROM (
      SELECT id, run_at, group_key, priority, state
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at <= :now 
      ORDER BY run_at, group_key, priority, id
      LIMIT ?
    ) AS due_4_1
  ) AS due
  ORDER BY run_at, group_key, priority, id
  LIMIT ?
;

  SELECT queue
  FROM (SELECT DISTINCT queue FROM sql_queue_jobs ) AS names
  WHERE 
    (
      SELECT j.run_at
      FROM sql_queue_jobs j 
      WHERE j.queue = names.queue AND j.runnable = 0 AND j.run_at IS NOT NULL
      ORDER BY j.queue, j.runnable, j.run_at
      LIMIT 1
    ) <= :now
     OR 
    (
      SELECT j.run_at
      FROM sql_queue_jobs j 
      WHERE j.queue = names.queue AND j.runnable = 1 AND j.run_at IS NOT NULL 
      ORDER BY j.queue, j.runnable, j.run_at
      LIMIT 1
    ) <= :now
;

  UPDATE sql_queue_jobs 
  SET due_at = run_at, state = 'waiting', runnable = CASE WHEN EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) THEN 2 ELSE CASE WHEN group_key = '' THEN 1 ELSE 5 END END, run_at = NULL
  WHERE (id IN (?)) AND run_at <= :now AND claim_id = 0
;

  WITH RECURSIVE names (queue) AS (
    SELECT MIN(queue)
    FROM sql_queue_jobs
    UNION ALL
    SELECT (SELECT MIN(t.queue) FROM sql_queue_jobs t WHERE t.queue > names.queue)
    FROM names
    WHERE names.queue IS NOT NULL
  )
  SELECT queue
  FROM names
  WHERE queue IS NOT NULL
;

-- jobs.prune

  DELETE FROM sql_queue_history
  WHERE (id IN (?)) AND expires_at <= :now
;

  INSERT INTO kept_jobs (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  SELECT id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner
  FROM sql_queue_history 
  WHERE (id IN (?))
;

  INSERT INTO kept_reused (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  SELECT id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner
  FROM sql_queue_history 
  WHERE (id IN (?))
;

  INSERT INTO other_jobs (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  SELECT id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner
  FROM sql_queue_history 
  WHERE (id IN (?))
;

  SELECT id
  FROM sql_queue_history 
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT ? 
;

  SELECT id, created_at, finished_at
  FROM kept_jobs
  WHERE (id IN (?))
;

  SELECT id, created_at, finished_at
  FROM kept_reused
  WHERE (id IN (?))
;

  SELECT id, created_at, finished_at
  FROM other_jobs
  WHERE (id IN (?))
;

  SELECT id, queue, created_at, finished_at
  FROM sql_queue_history 
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT ? 
;

  UPDATE sql_queue_history 
  SET expires_at = 9007199254740991
  WHERE (id IN (?))
;

-- jobs.pruneKeys

  DELETE FROM sql_queue_keys
  WHERE queue = ? AND key_hash IN (?)
;

  SELECT k.key_hash, k.job_id, k.key_until, k.kept_until, :now AS at,
         k.expires_at > :now AND k.acquired_at <= :now + 60000 AS has_time,
         j.id AS alive, j.name, j.claim_id, j.attempt
  FROM sql_queue_keys k
  LEFT JOIN sql_queue_jobs j ON j.id = k.job_id AND j.queue = k.queue
  WHERE k.queue = ? AND k.key_hash IN (?)
;

  SELECT key_hash, job_id
  FROM sql_queue_keys 
  WHERE queue = ? AND key_hash IN (?)
  ORDER BY key_hash 
;

  SELECT queue, key_hash AS hash, job_id
  FROM sql_queue_keys 
  WHERE kept_until <= :now
  ORDER BY kept_until
  LIMIT ? 
;

  UPDATE sql_queue_keys 
  SET kept_until = :now + ?
  WHERE queue = ? AND key_hash IN (?)
;

-- jobs.readUpcomingTimes

  SELECT 
  (
    SELECT MIN(due)
    FROM (
      SELECT (
        SELECT s.run_at
        FROM sql_queue_jobs s 
        WHERE s.queue = k.queue AND s.runnable = 0 AND s.run_at > :now
        ORDER BY s.queue, s.runnable, s.run_at
        LIMIT 1
      ) AS due
      FROM sql_queue_queues k
    ) AS times
  ) AS due_at,
         
  (
    SELECT MIN(due)
    FROM (
      SELECT (
        SELECT s.run_at
        FROM sql_queue_jobs s 
        WHERE s.queue = k.queue AND s.runnable = 1  AND s.run_at > :now
        ORDER BY s.queue, s.runnable, s.run_at
        LIMIT 1
      ) AS due
      FROM sql_queue_queues k
    ) AS times
  ) AS plain_due_at,
         (SELECT MIN(lease_until) FROM sql_queue_claims WHERE lease_until > :now) AS lapse_at,
         
  (
    SELECT next_at
    FROM sql_queue_schedules 
    WHERE next_at IS NOT NULL AND next_at > :now AND (source = 'api' OR name IN (?))
    ORDER BY next_at
    LIMIT 1
  ) AS tick_at, :now AS at
;

-- jobs.rescue

  DELETE FROM sql_queue_claims
  WHERE id = ?
;

  DELETE FROM sql_queue_jobs
  WHERE (id > 9007199254740991 OR id < -9007199254740991) AND CAST(id AS CHAR) IN (?)
;

  DELETE FROM sql_queue_jobs
  WHERE (id IN (?)) AND claim_id = ?
;

  INSERT INTO sql_queue_events (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)
;

  INSERT INTO sql_queue_jobs (queue, name, state, runnable, priority, max_attempts, payload, headers, options)
  VALUES (?, ?, 'waiting', 1, ?, ?, ?, ?, ?)
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?, ?, ?)
;

  SELECT (SELECT MAX(id) FROM sql_queue_jobs WHERE id <= 9007199254740991) AS live,
         (SELECT MAX(id) FROM sql_queue_history WHERE id <= 9007199254740991) AS finished
;

  SELECT 1 AS one
  FROM sql_queue_jobs
  WHERE id IN (?) AND claim_id = ?
  LIMIT 1
;

  SELECT id
  FROM sql_queue_claims
  WHERE id > ? AND (lease_until <= :now OR (CASE WHEN lease_ms BETWEEN 1 AND 3153600000000
       THEN lease_until > CASE WHEN snoozed_until BETWEEN :now AND 8640000000000000 THEN snoozed_until ELSE :now END + lease_ms + 1000
       ELSE 0 END = 1))
  ORDER BY id
  LIMIT ?
;

  SELECT id
  FROM sql_queue_claims 
  WHERE id = ? AND CASE WHEN lease_ms BETWEEN 1 AND 3153600000000
       THEN lease_until > CASE WHEN snoozed_until BETWEEN :now AND 8640000000000000 THEN snoozed_until ELSE :now END + lease_ms + 1000
       ELSE 0 END = 1 
;

  SELECT id
  FROM sql_queue_jobs
  WHERE claim_id = ?
  ORDER BY id
;

  SELECT id
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND state = 'active' AND claim_id = ?
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged, :now AS at
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id = ?
  ORDER BY id 
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CAST(id AS CHAR) AS text
  FROM sql_queue_jobs 
  WHERE (id > 9007199254740991 OR id < -9007199254740991)
  LIMIT ? 
;

  SELECT id, queue, job_ids
  FROM sql_queue_claims
  WHERE id IN (?)
;

  SELECT id, worker_id, owner, queue, job_ids, start_limit, cancel_requests, dead_letter
  FROM sql_queue_claims 
  WHERE id = ? AND lease_until <= :now 
;

  UPDATE sql_queue_claims 
  SET lease_until = 0
  WHERE id = ?
;

  UPDATE sql_queue_claims 
  SET lease_until = :now + lease_ms
  WHERE id = ?
;

  UPDATE sql_queue_groups 
  SET turn = CASE WHEN state = 'blocked' THEN :now ELSE turn END,
      state = CASE WHEN state = 'blocked' THEN 'ready' ELSE state END
  WHERE queue = ? AND group_key IN (?)
;

  UPDATE sql_queue_jobs 
  SET state = 'waiting', runnable = CASE WHEN group_key = '' OR runnable = 2 THEN runnable ELSE 5 END, claim_id = 0, due_at = CASE WHEN ? = 0 THEN :now ELSE due_at END, attempt = CASE WHEN attempt > 0 THEN attempt - ? ELSE 0 END, error = COALESCE(?, error)
  WHERE (id IN (?)) AND claim_id = ?
;

-- jobs.summarizeWork

  SELECT q.queue, q.paused, q.settings,
         q.queue IN (?) OR 
         (
           SELECT 1
           FROM sql_queue_jobs j 
           WHERE j.queue = q.queue AND j.runnable = 1 AND j.run_at IS NULL AND j.group_key = '' AND j.state = 'waiting'
           ORDER BY j.queue DESC, j.priority DESC, j.id DESC
           LIMIT 1
         ) IS NOT NULL AS waiting,
         
         EXISTS (
           SELECT 1
           FROM sql_queue_jobs a 
           WHERE a.queue = q.queue AND a.run_at IS NULL AND a.state = 'waiting' AND a.runnable = 4
         ) OR 
         EXISTS (
           SELECT 1
           FROM sql_queue_jobs b 
           WHERE b.queue = q.queue AND b.run_at IS NULL AND b.state = 'waiting' AND b.runnable = 5
         )
           OR 
         EXISTS (
           SELECT 1
           FROM sql_queue_jobs c 
           WHERE c.queue = q.queue AND c.run_at IS NULL AND c.state = 'waiting' AND c.runnable = 1 AND c.group_key > '' 
         ) AS arriving,
         EXISTS (SELECT 1 FROM sql_queue_groups g WHERE g.queue = q.queue) AS has_groups,
         EXISTS (
           SELECT 1
           FROM sql_queue_groups r 
           WHERE r.queue = q.queue AND r.state = 'ready'
         ) AS has_ready_groups,
         (
           SELECT CASE WHEN d.turn > :now + 601000 THEN 0 ELSE d.turn END
           FROM sql_queue_groups d 
           WHERE d.queue = q.queue AND d.state = 'blocked'
           ORDER BY d.queue, d.state, d.turn
           LIMIT 1
         ) AS next_due_group,
         (
           SELECT CASE WHEN l.rest_ms > 0 AND l.rest_until > :now + l.rest_ms + 1000 THEN 0 ELSE l.rest_until END
           FROM sql_queue_limits l 
           WHERE l.queue = q.queue AND (l.declared IS NOT NULL OR l.overrides IS NOT NULL OR CASE WHEN l.rest_ms > 0 AND l.rest_until > :now + l.rest_ms + 1000 THEN 0 ELSE l.rest_until END > :now)
         ) AS rest_until,
         
  (
    SELECT MIN(due)
    FROM (
      SELECT (
        SELECT s.run_at
        FROM sql_queue_jobs s 
        WHERE s.queue = k.queue AND s.runnable = 0 AND s.run_at IS NOT NULL
        ORDER BY s.queue, s.runnable, s.run_at
        LIMIT 1
      ) AS due
      FROM sql_queue_queues k
    ) AS times
  ) AS due_at,
         
  (
    SELECT MIN(due)
    FROM (
      SELECT (
        SELECT s.run_at
        FROM sql_queue_jobs s 
        WHERE s.queue = k.queue AND s.runnable = 1  AND s.run_at IS NOT NULL
        ORDER BY s.queue, s.runnable, s.run_at
        LIMIT 1
      ) AS due
      FROM sql_queue_queues k
    ) AS times
  ) AS plain_due_at,
         (SELECT MIN(CASE WHEN CASE WHEN lease_ms BETWEEN 1 AND 3153600000000
       THEN lease_until > CASE WHEN snoozed_until BETWEEN :now AND 8640000000000000 THEN snoozed_until ELSE :now END + lease_ms + 1000
       ELSE 0 END = 1 THEN 0 ELSE lease_until END) FROM sql_queue_claims) AS lapse_at,
         
  (
    SELECT next_at
    FROM sql_queue_schedules 
    WHERE next_at IS NOT NULL  AND (source = 'api' OR name IN (?))
    ORDER BY next_at
    LIMIT 1
  ) AS tick_at, :now AS at,
         (SELECT MAX(expires_at) FROM sql_queue_waits) AS awaited
  FROM sql_queue_queues q
  WHERE q.queue IN (?)
;

-- limits.declareLimits

  INSERT INTO sql_queue_limits (queue)
  VALUES (?)
  ON CONFLICT (queue) DO NOTHING
;

  SELECT declared, overrides, rate_until_us, rate_used, CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END AS rest_until
  FROM sql_queue_limits 
  WHERE queue = ? 
;

  SELECT queue, declared
  FROM sql_queue_limits 
  WHERE queue IN (?)
;

  UPDATE sql_queue_limits 
  SET declared = ?, overrides = ?, rate_until_us = CASE WHEN ? = 1 THEN rate_until_us ELSE 0 END,
      rate_used = CASE WHEN ? = 1 THEN rate_used ELSE 0 END
  WHERE queue = ?
;

-- limits.rest

  INSERT INTO sql_queue_limits (queue)
  VALUES (?)
  ON CONFLICT (queue) DO NOTHING
;

  UPDATE sql_queue_limits 
  SET rest_until = COALESCE(?, :now + ?), rest_ms = CASE WHEN ? IS NULL THEN ? ELSE 0 END
  WHERE queue = ? AND CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END < COALESCE(?, :now + ?)
;

-- limits.setLimits

  INSERT INTO sql_queue_limits (queue)
  VALUES (?)
  ON CONFLICT (queue) DO NOTHING
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT declared, overrides, rate_until_us, rate_used, CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END AS rest_until
  FROM sql_queue_limits 
  WHERE queue = ? 
;

  UPDATE sql_queue_limits 
  SET declared = ?, overrides = ?, rate_until_us = CASE WHEN ? = 1 THEN rate_until_us ELSE 0 END,
      rate_used = CASE WHEN ? = 1 THEN rate_used ELSE 0 END
  WHERE queue = ?
;

  UPDATE sql_queue_limits 
  SET rest_until = COALESCE(?, :now + ?), rest_ms = CASE WHEN ? IS NULL THEN ? ELSE 0 END
  WHERE queue = ?
;

-- metrics.fold

  DELETE FROM sql_queue_errors
  WHERE queue = ? AND step_ms = ? AND starts_at = ? AND recorder = ? AND error = ?
;

  DELETE FROM sql_queue_metrics
  WHERE queue = ? AND step_ms = ? AND starts_at = ? AND recorder = ?
;

  REPLACE INTO sql_queue_errors (queue, step_ms, starts_at, recorder, error, failed, dead, first_at, last_at, job_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
;

  REPLACE INTO sql_queue_metrics (queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
;

  SELECT 
         EXISTS (
           SELECT 1
           FROM sql_queue_metrics 
           WHERE step_ms = 0 AND starts_at < (:now - 600000) - (:now - 600000) % 60000
         ) AS metrics_n,
         EXISTS (
           SELECT 1
           FROM sql_queue_metrics 
           WHERE step_ms = 60000 AND starts_at < (:now - 86400000) - (:now - 86400000) % 3600000
         ) AS metrics_n,
         EXISTS (
           SELECT 1
           FROM sql_queue_metrics 
           WHERE step_ms = 3600000 AND starts_at < (:now - 2592000000) - (:now - 2592000000) % 86400000
         ) AS metrics_n,
         EXISTS (
           SELECT 1
           FROM sql_queue_metrics 
           WHERE step_ms = 86400000 AND starts_at < (:now - 31536000000) - (:now - 31536000000) % 86400000
         ) AS metrics_n,
         EXISTS (
           SELECT 1
           FROM sql_queue_errors 
           WHERE step_ms = 0 AND starts_at < (:now - 600000) - (:now - 600000) % 60000
         ) AS errors_n,
         EXISTS (
           SELECT 1
           FROM sql_queue_errors 
           WHERE step_ms = 60000 AND starts_at < (:now - 86400000) - (:now - 86400000) % 3600000
         ) AS errors_n,
         EXISTS (
           SELECT 1
           FROM sql_queue_errors 
           WHERE step_ms = 3600000 AND starts_at < (:now - 2592000000) - (:now - 2592000000) % 86400000
         ) AS errors_n,
         EXISTS (
           SELECT 1
           FROM sql_queue_errors 
           WHERE step_ms = 86400000 AND starts_at < (:now - 31536000000) - (:now - 31536000000) % 86400000
         ) AS errors_n
;

  SELECT queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs
  FROM sql_queue_metrics 
  WHERE queue = ? AND step_ms = ? AND starts_at = ? AND recorder = 0 
;

  SELECT queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs
  FROM sql_queue_metrics 
  WHERE step_ms = ? AND starts_at < (:now - ?) - (:now - ?) % ?
  ORDER BY starts_at
  LIMIT ? 
;

  SELECT queue, step_ms, starts_at, recorder, error, failed, dead, first_at, last_at, job_id
  FROM sql_queue_errors 
  WHERE queue = ? AND step_ms = ? AND starts_at = ? AND recorder = 0 
;

  SELECT queue, step_ms, starts_at, recorder, error, failed, dead, first_at, last_at, job_id
  FROM sql_queue_errors 
  WHERE step_ms = ? AND starts_at < (:now - ?) - (:now - ?) % ?
  ORDER BY starts_at
  LIMIT ? 
;

-- metrics.read

  SELECT queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs
  FROM sql_queue_metrics 
  WHERE queue IN (?) AND step_ms = 0
    AND starts_at < COALESCE(?, :now)
    AND starts_at >= COALESCE(?, COALESCE(?, :now) - 60 * ?)
                     - COALESCE(?, COALESCE(?, :now) - 60 * ?)
                       % CASE WHEN ? > 0 THEN ? ELSE 0 END
  UNION ALL
  SELECT queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs
  FROM sql_queue_metrics 
  WHERE queue IN (?) AND step_ms = 60000
    AND starts_at < COALESCE(?, :now)
    AND starts_at >= COALESCE(?, COALESCE(?, :now) - 60 * ?)
                     - COALESCE(?, COALESCE(?, :now) - 60 * ?)
                       % CASE WHEN ? > 60000 THEN ? ELSE 60000 END
  UNION ALL
  SELECT queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs
  FROM sql_queue_metrics 
  WHERE queue IN (?) AND step_ms = 3600000
    AND starts_at < COALESCE(?, :now)
    AND starts_at >= COALESCE(?, COALESCE(?, :now) - 60 * ?)
                     - COALESCE(?, COALESCE(?, :now) - 60 * ?)
                       % CASE WHEN ? > 3600000 THEN ? ELSE 3600000 END
  UNION ALL
  SELECT queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs
  FROM sql_queue_metrics 
  WHERE queue IN (?) AND step_ms = 86400000
    AND starts_at < COALESCE(?, :now)
    AND starts_at >= COALESCE(?, COALESCE(?, :now) - 60 * ?)
                     - COALESCE(?, COALESCE(?, :now) - 60 * ?)
                       % CASE WHEN ? > 86400000 THEN ? ELSE 86400000 END
;

-- metrics.readErrors

  SELECT id, name, error
  FROM sql_queue_jobs
  WHERE id IN (?)
  UNION ALL
  SELECT id, name, error
  FROM sql_queue_history
  WHERE id IN (?)
;

  SELECT queue, error, SUM(failed) AS failed, SUM(dead) AS dead, MIN(first_at) AS first_at, MAX(last_at) AS last_at,
         MAX(job_id) AS job_id, COALESCE(?, :now) AS to_at
  FROM (
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 0 AND starts_at < COALESCE(?, :now) AND starts_at >= COALESCE(?, COALESCE(?, :now) - 3600000) - COALESCE(?, COALESCE(?, :now) - 3600000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 60000 AND starts_at < COALESCE(?, :now) AND starts_at >= COALESCE(?, COALESCE(?, :now) - 3600000) - COALESCE(?, COALESCE(?, :now) - 3600000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 3600000 AND starts_at < COALESCE(?, :now) AND starts_at >= COALESCE(?, COALESCE(?, :now) - 3600000) - COALESCE(?, COALESCE(?, :now) - 3600000) % 3600000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 86400000 AND starts_at < COALESCE(?, :now) AND starts_at >= COALESCE(?, COALESCE(?, :now) - 3600000) - COALESCE(?, COALESCE(?, :now) - 3600000) % 86400000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
  ) AS counted
  GROUP BY queue, error
  ORDER BY failed DESC, queue, error
  LIMIT ?
;

  SELECT queue, error, SUM(failed) AS failed, SUM(dead) AS dead, MIN(first_at) AS first_at, MAX(last_at) AS last_at,
         MAX(job_id) AS job_id, COALESCE(?, :now) AS to_at
  FROM (
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 0 AND starts_at < COALESCE(?, :now) AND starts_at >= COALESCE(?, COALESCE(?, :now) - 3600000) - COALESCE(?, COALESCE(?, :now) - 3600000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 60000 AND starts_at < COALESCE(?, :now) AND starts_at >= COALESCE(?, COALESCE(?, :now) - 3600000) - COALESCE(?, COALESCE(?, :now) - 3600000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 3600000 AND starts_at < COALESCE(?, :now) AND starts_at >= COALESCE(?, COALESCE(?, :now) - 3600000) - COALESCE(?, COALESCE(?, :now) - 3600000) % 3600000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 86400000 AND starts_at < COALESCE(?, :now) AND starts_at >= COALESCE(?, COALESCE(?, :now) - 3600000) - COALESCE(?, COALESCE(?, :now) - 3600000) % 86400000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
  ) AS counted
  GROUP BY queue, error
  ORDER BY failed DESC, queue, error
  LIMIT ?
;

  SELECT queue, error, starts_at - starts_at % 3600000 AS starts_at, SUM(failed) AS failed
  FROM (
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 0 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 86400000) - (? - 86400000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 60000 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 86400000) - (? - 86400000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 3600000 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 86400000) - (? - 86400000) % 3600000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
  ) AS counted
  WHERE error IN (?)
  GROUP BY queue, error, starts_at - starts_at % 3600000
;

  SELECT queue, error, starts_at - starts_at % 3600000 AS starts_at, SUM(failed) AS failed
  FROM (
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 0 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 86400000) - (? - 86400000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 60000 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 86400000) - (? - 86400000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 3600000 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 86400000) - (? - 86400000) % 3600000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
  ) AS counted
  WHERE error IN (?)
  GROUP BY queue, error, starts_at - starts_at % 3600000
;

  SELECT queue, error, starts_at - starts_at % 60000 AS starts_at, SUM(failed) AS failed
  FROM (
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 0 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 3600000) - (? - 3600000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 60000 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 3600000) - (? - 3600000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
  ) AS counted
  WHERE error IN (?)
  GROUP BY queue, error, starts_at - starts_at % 60000
;

  SELECT queue, error, starts_at - starts_at % 60000 AS starts_at, SUM(failed) AS failed
  FROM (
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 0 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 3600000) - (? - 3600000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 60000 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 3600000) - (? - 3600000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
  ) AS counted
  WHERE error IN (?)
  GROUP BY queue, error, starts_at - starts_at % 60000
;

  SELECT queue, error, starts_at - starts_at % 86400000 AS starts_at, SUM(failed) AS failed
  FROM (
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 0 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 2592000000) - (? - 2592000000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 60000 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 2592000000) - (? - 2592000000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 3600000 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 2592000000) - (? - 2592000000) % 3600000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE queue = ? AND step_ms = 86400000 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 2592000000) - (? - 2592000000) % 86400000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
  ) AS counted
  WHERE error IN (?)
  GROUP BY queue, error, starts_at - starts_at % 86400000
;

  SELECT queue, error, starts_at - starts_at % 86400000 AS starts_at, SUM(failed) AS failed
  FROM (
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 0 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 2592000000) - (? - 2592000000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 60000 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 2592000000) - (? - 2592000000) % 60000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 3600000 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 2592000000) - (? - 2592000000) % 3600000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
      UNION ALL
      SELECT *
      FROM (
        SELECT queue, error, starts_at, failed, dead, first_at, last_at, job_id
        FROM sql_queue_errors 
        WHERE step_ms = 86400000 AND starts_at < COALESCE(?, :now) AND starts_at >= (? - 2592000000) - (? - 2592000000) % 86400000
        ORDER BY starts_at DESC
        LIMIT 20000
      ) AS of_n
  ) AS counted
  WHERE error IN (?)
  GROUP BY queue, error, starts_at - starts_at % 86400000
;

-- metrics.readTime
SELECT :now AS at
;

-- metrics.save

  REPLACE INTO sql_queue_errors (queue, step_ms, starts_at, recorder, error, failed, dead, first_at, last_at, job_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
;

  REPLACE INTO sql_queue_metrics (queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
;

-- openStore

  DELETE FROM sql_queue_jobs
  WHERE id = ? AND claim_id = 0
;

  INSERT INTO sql_queue_jobs (id, queue, state, runnable, payload)
  VALUES (?, '', 'waiting', 2, 'null')
;

  INSERT INTO sql_queue_schema (version, applied_at)
  SELECT ?, :now
  FROM (SELECT 1 AS one) AS one_row
  WHERE NOT EXISTS (SELECT 1 FROM sql_queue_schema WHERE version = ?)
;

  SELECT (SELECT MAX(id) FROM sql_queue_history WHERE id <= 4503599627370496) AS history,
         (SELECT MAX(job_id) FROM sql_queue_progress WHERE job_id <= 4503599627370496) AS progress,
         (SELECT MAX(job_id) FROM sql_queue_logs WHERE job_id <= 4503599627370496) AS logs,
         (SELECT MAX(job_id) FROM sql_queue_stages WHERE job_id <= 4503599627370496) AS stages,
         (SELECT MAX(job_id) FROM (SELECT job_id FROM sql_queue_keys LIMIT 10000) AS some_keys
          WHERE job_id <= 4503599627370496) AS some_keys
         
;

  SELECT (SELECT MAX(id) FROM sql_queue_history WHERE id <= 4503599627370496) AS history,
         (SELECT MAX(job_id) FROM sql_queue_progress WHERE job_id <= 4503599627370496) AS progress,
         (SELECT MAX(job_id) FROM sql_queue_logs WHERE job_id <= 4503599627370496) AS logs,
         (SELECT MAX(job_id) FROM sql_queue_stages WHERE job_id <= 4503599627370496) AS stages,
         (SELECT MAX(job_id) FROM (SELECT job_id FROM sql_queue_keys LIMIT 10000) AS some_keys
          WHERE job_id <= 4503599627370496) AS some_keys
         , (SELECT MAX(id) FROM kept_jobs WHERE id <= 4503599627370496) AS archive_n
;

  SELECT (SELECT MAX(id) FROM sql_queue_history WHERE id <= 4503599627370496) AS history,
         (SELECT MAX(job_id) FROM sql_queue_progress WHERE job_id <= 4503599627370496) AS progress,
         (SELECT MAX(job_id) FROM sql_queue_logs WHERE job_id <= 4503599627370496) AS logs,
         (SELECT MAX(job_id) FROM sql_queue_stages WHERE job_id <= 4503599627370496) AS stages,
         (SELECT MAX(job_id) FROM (SELECT job_id FROM sql_queue_keys LIMIT 10000) AS some_keys
          WHERE job_id <= 4503599627370496) AS some_keys
         , (SELECT MAX(id) FROM kept_jobs WHERE id <= 4503599627370496) AS archive_n, (SELECT MAX(id) FROM other_jobs WHERE id <= 4503599627370496) AS archive_n
;

  SELECT (SELECT MAX(id) FROM sql_queue_history WHERE id <= 4503599627370496) AS history,
         (SELECT MAX(job_id) FROM sql_queue_progress WHERE job_id <= 4503599627370496) AS progress,
         (SELECT MAX(job_id) FROM sql_queue_logs WHERE job_id <= 4503599627370496) AS logs,
         (SELECT MAX(job_id) FROM sql_queue_stages WHERE job_id <= 4503599627370496) AS stages,
         (SELECT MAX(job_id) FROM (SELECT job_id FROM sql_queue_keys LIMIT 10000) AS some_keys
          WHERE job_id <= 4503599627370496) AS some_keys
         , (SELECT MAX(id) FROM kept_reused WHERE id <= 4503599627370496) AS archive_n
;

  SELECT (SELECT MAX(id) FROM sql_queue_history WHERE id <= 4503599627370496) AS history,
         (SELECT MAX(job_id) FROM sql_queue_progress WHERE job_id <= 4503599627370496) AS progress,
         (SELECT MAX(job_id) FROM sql_queue_logs WHERE job_id <= 4503599627370496) AS logs,
         (SELECT MAX(job_id) FROM sql_queue_stages WHERE job_id <= 4503599627370496) AS stages,
         (SELECT MAX(job_id) FROM (SELECT job_id FROM sql_queue_keys LIMIT 10000) AS some_keys
          WHERE job_id <= 4503599627370496) AS some_keys
         , (SELECT MAX(id) FROM kept_reused WHERE id <= 4503599627370496) AS archive_n, (SELECT MAX(id) FROM kept_elsewhere WHERE id <= 4503599627370496) AS archive_n
;

  SELECT (SELECT MAX(id) FROM sql_queue_history WHERE id <= 4503599627370496) AS history,
         (SELECT MAX(job_id) FROM sql_queue_progress WHERE job_id <= 4503599627370496) AS progress,
         (SELECT MAX(job_id) FROM sql_queue_logs WHERE job_id <= 4503599627370496) AS logs,
         (SELECT MAX(job_id) FROM sql_queue_stages WHERE job_id <= 4503599627370496) AS stages,
         (SELECT MAX(job_id) FROM (SELECT job_id FROM sql_queue_keys LIMIT 10000) AS some_keys
          WHERE job_id <= 4503599627370496) AS some_keys
         , (SELECT MAX(id) FROM mail_archive WHERE id <= 4503599627370496) AS archive_n, (SELECT MAX(id) FROM photo_archive WHERE id <= 4503599627370496) AS archive_n
;

  SELECT id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at, finished_at, expires_at, payload, headers, options, result, error, due_at, owner
  FROM kept_elsewhere
  WHERE id = 0
;

  SELECT id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at, finished_at, expires_at, payload, headers, options, result, error, due_at, owner
  FROM kept_jobs
  WHERE id = 0
;

  SELECT id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at, finished_at, expires_at, payload, headers, options, result, error, due_at, owner
  FROM kept_reused
  WHERE id = 0
;

  SELECT id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at, finished_at, expires_at, payload, headers, options, result, error, due_at, owner
  FROM mail_archive
  WHERE id = 0
;

  SELECT id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at, finished_at, expires_at, payload, headers, options, result, error, due_at, owner
  FROM nowhere
  WHERE id = 0
;

  SELECT id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at, finished_at, expires_at, payload, headers, options, result, error, due_at, owner
  FROM oddly_shaped
  WHERE id = 0
;

  SELECT id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at, finished_at, expires_at, payload, headers, options, result, error, due_at, owner
  FROM other_jobs
  WHERE id = 0
;

  SELECT id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at, finished_at, expires_at, payload, headers, options, result, error, due_at, owner
  FROM photo_archive
  WHERE id = 0
;

  SELECT seq
  FROM sqlite_sequence
  WHERE name = 'sql_queue_jobs'
;
SELECT 'sql_queue_schema' AS name, COALESCE(NULLIF(file, ''), 'main') AS db FROM pragma_database_list WHERE name = 'main'
;
SELECT MAX(version) AS version FROM sql_queue_schema
;

-- queues.declare

  INSERT INTO sql_queue_subscriptions (queue, topic, header_filter, created_at)
  VALUES (?, ?, ?, :now)
  ON CONFLICT (queue, topic) DO UPDATE SET header_filter = excluded.header_filter
;

  INSERT OR IGNORE INTO sql_queue_queues (queue, paused, created_at)
  VALUES (?, 0, :now)
;

  SELECT queue, expires_after_ms
  FROM sql_queue_queues
  WHERE queue IN (?)
;

  SELECT queue, topic, header_filter, created_at
  FROM sql_queue_subscriptions WHERE queue IN (?)
  ORDER BY queue, topic
;

  UPDATE sql_queue_queues 
  SET expires_after_ms = ?, used_at = :now, served_at = COALESCE(served_at, :now)
  WHERE queue = ?
;

-- queues.expire

  DELETE FROM sql_queue_limits
  WHERE queue = ?
;

  DELETE FROM sql_queue_queues
  WHERE queue = ?
;

  DELETE FROM sql_queue_subscriptions
  WHERE queue = ?
;

  SELECT expires_after_ms
  FROM sql_queue_queues 
  WHERE queue = ? AND 
  CASE WHEN used_at BETWEEN 0 AND 9007199254740991 AND expires_after_ms BETWEEN 0 AND 9007199254740991
       THEN used_at + expires_after_ms / 1 END <= :now AND NOT (paused <> 0 OR INSTR(COALESCE(settings, ''), '"enabled"') > 0) 
;

  SELECT id
  FROM sql_queue_jobs
  WHERE queue = ?
  LIMIT 1
;

  SELECT id
  FROM sql_queue_workers
  WHERE seen_at + ? > :now AND INSTR(queues, ?) > 0
  LIMIT 1
;

  SELECT q.queue
  FROM sql_queue_queues q
  WHERE 
  CASE WHEN q.used_at BETWEEN 0 AND 9007199254740991 AND q.expires_after_ms BETWEEN 0 AND 9007199254740991
       THEN q.used_at + q.expires_after_ms / 1 END <= :now AND NOT (q.paused <> 0 OR INSTR(COALESCE(q.settings, ''), '"enabled"') > 0)
    AND NOT EXISTS (SELECT 1 FROM sql_queue_jobs j WHERE j.queue = q.queue)
  ORDER BY q.queue
;

-- queues.markUsed

  UPDATE sql_queue_queues 
  SET used_at = :now
  WHERE queue IN (?)
;

-- queues.readService

  SELECT DISTINCT queue
  FROM (
    SELECT c.queue
    FROM sql_queue_claims c
    WHERE c.queue IN (?) AND c.owner IS NOT NULL AND c.lease_until > :now
      AND NOT EXISTS (SELECT 1 FROM sql_queue_workers w WHERE w.id = c.worker_id)
    LIMIT 20000
  ) AS assigned
;

  SELECT id
  FROM sql_queue_history 
  WHERE queue = ?
  LIMIT 1
;

  SELECT queue, served_at
  FROM sql_queue_queues
;

  SELECT queues
  FROM sql_queue_workers
  WHERE seen_at > :now - 60000
;

-- queues.subscribe

  INSERT INTO sql_queue_subscriptions (queue, topic, header_filter, created_at)
  VALUES (?, ?, ?, :now)
  ON CONFLICT (queue, topic) DO UPDATE SET header_filter = excluded.header_filter
;

  INSERT OR IGNORE INTO sql_queue_queues (queue, paused, created_at)
  VALUES (?, 0, :now)
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  UPDATE sql_queue_queues 
  SET used_at = :now
  WHERE queue IN (?)
;

-- queues.subscribers

  SELECT queue, header_filter
  FROM sql_queue_subscriptions
  WHERE topic IN (?)
  ORDER BY queue
;

-- queues.subscriptions

  SELECT queue, topic, header_filter, created_at
  FROM sql_queue_subscriptions 
  ORDER BY queue, topic
;

-- queues.unsubscribe

  DELETE FROM sql_queue_subscriptions
  WHERE queue = ?
;

  DELETE FROM sql_queue_subscriptions
  WHERE queue = ? AND topic = ?
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

-- readSchemaState
SELECT MAX(version) AS version FROM sql_queue_schema
;

-- schedules.declare

  INSERT INTO sql_queue_schedules (name, queue, job_name, payload, headers, options, priority, max_attempts, cron, every_ms, tz, until_at, missed, missed_limit, overlap, jitter_ms, next_at, source, digest, revision, declared_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?, :now)
  ON CONFLICT (name) DO NOTHING
;

  SELECT name, queue, job_name, payload, headers, options, priority, max_attempts, cron, every_ms, tz, until_at, missed, missed_limit, overlap, jitter_ms, next_at, last_at, last_job_id, paused, source, digest, revision, :now AS at
  FROM sql_queue_schedules 
  WHERE name = ? 
;

  SELECT name, source, digest, revision
  FROM sql_queue_schedules 
  WHERE name IN (?)
;

  UPDATE sql_queue_schedules 
  SET name = ?, queue = ?, job_name = ?, payload = ?, headers = ?, options = ?, priority = ?, max_attempts = ?, cron = ?, every_ms = ?, tz = ?, until_at = ?, missed = ?, missed_limit = ?, overlap = ?, jitter_ms = ?,
      next_at = ?, source = ?, digest = ?, revision = ?, declared_at = :now
  WHERE name = ?
;

-- schedules.get

  SELECT name, queue, job_name, payload, headers, options, priority, max_attempts, cron, every_ms, tz, until_at, missed, missed_limit, overlap, jitter_ms, next_at, last_at, last_job_id, paused, source, digest, revision, CASE WHEN next_at < :now - 60000 THEN 1 ELSE 0 END AS is_late
  FROM sql_queue_schedules 
  WHERE name = ?
;

-- schedules.keepDeclared

  SELECT name, CASE WHEN source = 'code' AND declared_at < :now - 3600000 THEN 1 ELSE 0 END AS stale
  FROM sql_queue_schedules 
  WHERE name IN (?)
;

  UPDATE sql_queue_schedules 
  SET declared_at = :now
  WHERE name = ? AND source = 'code'
;

-- schedules.list

  SELECT name, queue, job_name, payload, headers, options, priority, max_attempts, cron, every_ms, tz, until_at, missed, missed_limit, overlap, jitter_ms, next_at, last_at, last_job_id, paused, source, digest, revision, CASE WHEN next_at < :now - 60000 THEN 1 ELSE 0 END AS is_late
  FROM sql_queue_schedules
  ORDER BY name
;

-- schedules.remove

  DELETE FROM sql_queue_schedules
  WHERE name = ?
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT name, queue, job_name, payload, headers, options, priority, max_attempts, cron, every_ms, tz, until_at, missed, missed_limit, overlap, jitter_ms, next_at, last_at, last_job_id, paused, source, digest, revision, :now AS at
  FROM sql_queue_schedules 
  WHERE name = ? 
;

-- schedules.removeUndeclared

  DELETE FROM sql_queue_schedules
  WHERE name = ? AND source = 'code' AND declared_at < :now - ?
;

  SELECT name
  FROM sql_queue_schedules
  WHERE source = 'code' AND declared_at < :now - ?
  ORDER BY name
  LIMIT 1000
;

-- schedules.runNow

  INSERT INTO sql_queue_jobs (queue, payload, options)
  VALUES (?, ?, ?)
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT name, queue, job_name, payload, headers, options, priority, max_attempts, cron, every_ms, tz, until_at, missed, missed_limit, overlap, jitter_ms, next_at, last_at, last_job_id, paused, source, digest, revision, :now AS at
  FROM sql_queue_schedules 
  WHERE name = ? 
;

  UPDATE sql_queue_schedules 
  SET last_at = ?, last_job_id = ?
  WHERE name = ?
;

-- schedules.runTicks

  INSERT INTO sql_queue_jobs (queue, name, run_at, state, runnable, priority, max_attempts, created_at, payload, headers, options, group_key)
  VALUES (?, ?, COALESCE(?, :now + ?), ?, ?, ?, ?, :now, ?, ?, ?, ?)
;

  INSERT INTO sql_queue_jobs (queue, name, state, runnable, priority, max_attempts, payload, headers, options)
  VALUES (?, ?, 'waiting', 1, ?, ?, ?, ?, ?)
;

  INSERT INTO sql_queue_jobs (queue, payload, options)
  VALUES (?, ?, ?)
;

  SELECT id, state
  FROM sql_queue_jobs 
  WHERE (id IN (?))
;

  SELECT name, next_at
  FROM sql_queue_schedules 
  WHERE next_at >= ? AND next_at <= :now AND (next_at > ? OR name > ?)
    AND (source = 'api' OR name IN (?))
  ORDER BY next_at, name
  LIMIT ?
;

  SELECT name, queue, job_name, payload, headers, options, priority, max_attempts, cron, every_ms, tz, until_at, missed, missed_limit, overlap, jitter_ms, next_at, last_at, last_job_id, paused, source, digest, revision, :now AS at
  FROM sql_queue_schedules 
  WHERE name IN (?) AND next_at <= :now
  ORDER BY name 
;

  UPDATE sql_queue_schedules 
  SET next_at = ?, last_at = COALESCE(?, last_at), last_job_id = COALESCE(?, last_job_id)
  WHERE name = ?
;

  UPDATE sql_queue_schedules 
  SET next_at = NULL, paused = 1
  WHERE name = ?
;

-- schedules.setPaused

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT name, queue, job_name, payload, headers, options, priority, max_attempts, cron, every_ms, tz, until_at, missed, missed_limit, overlap, jitter_ms, next_at, last_at, last_job_id, paused, source, digest, revision, :now AS at
  FROM sql_queue_schedules 
  WHERE name = ? 
;

  UPDATE sql_queue_schedules 
  SET paused = ?, next_at = ?
  WHERE name = ?
;

-- schedules.upsert

  INSERT INTO sql_queue_schedules (name, queue, job_name, payload, headers, options, priority, max_attempts, cron, every_ms, tz, until_at, missed, missed_limit, overlap, jitter_ms, next_at, source, digest, revision, declared_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?, :now)
  ON CONFLICT (name) DO NOTHING
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT name, queue, job_name, payload, headers, options, priority, max_attempts, cron, every_ms, tz, until_at, missed, missed_limit, overlap, jitter_ms, next_at, last_at, last_job_id, paused, source, digest, revision, :now AS at
  FROM sql_queue_schedules 
  WHERE name = ? 
;

  UPDATE sql_queue_schedules 
  SET name = ?, queue = ?, job_name = ?, payload = ?, headers = ?, options = ?, priority = ?, max_attempts = ?, cron = ?, every_ms = ?, tz = ?, until_at = ?, missed = ?, missed_limit = ?, overlap = ?, jitter_ms = ?,
      next_at = ?, source = ?, digest = ?, revision = ?, declared_at = :now
  WHERE name = ?
;

-- stats.read

  SELECT sample, sampled_at, took_ms, :now AS at
  FROM sql_queue_stats
  WHERE id = 1
;

-- stats.sample

  SELECT 
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at IS NULL
      LIMIT 10000
    ) AS counted
  ) AS waiting,
         
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 3
      LIMIT 10000
    ) AS counted
  ) AS grouped_n,
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 4
      LIMIT 10000
    ) AS counted
  ) AS grouped_n,
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 5
      LIMIT 10000
    ) AS counted
  ) AS grouped_n,
         
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0
      LIMIT 10000
    ) AS counted
  ) AS scheduled,
         
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at IS NOT NULL 
      LIMIT 10000
    ) AS counted
  ) AS plain_scheduled,
         
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 2
      LIMIT 10000
    ) AS counted
  ) AS staged,
         
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 6
      LIMIT 10000
    ) AS counted
  ) AS blocked,
         
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_history 
      WHERE queue = ? AND state = 'dead'
      LIMIT 10000
    ) AS counted
  ) AS dead,
         
  (
    SELECT run_at
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 0
    ORDER BY run_at
    LIMIT 1
  ) AS due_at,
         
  (
    SELECT run_at
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 1 AND run_at IS NOT NULL 
    ORDER BY run_at
    LIMIT 1
  ) AS plain_due_at,
         (
           SELECT COALESCE(due_at, created_at)
           FROM sql_queue_jobs 
           WHERE id = (
             SELECT MIN(id)
             FROM (
               SELECT id
               FROM (
                 SELECT id
                 FROM sql_queue_jobs 
                 WHERE queue = ? AND runnable = 3
                 LIMIT 10000
               ) AS ids_n UNION ALL 
               SELECT id
               FROM (
                 SELECT id
                 FROM sql_queue_jobs 
                 WHERE queue = ? AND runnable = 4
                 LIMIT 10000
               ) AS ids_n UNION ALL 
               SELECT id
               FROM (
                 SELECT id
                 FROM sql_queue_jobs 
                 WHERE queue = ? AND runnable = 5
                 LIMIT 10000
               ) AS ids_n) AS of_groups
             WHERE id NOT IN (?)
           )
         ) AS grouped_since
;

  SELECT COUNT(*) AS dead
  FROM (
    SELECT 1
    FROM sql_queue_history 
    WHERE queue = ? AND state = 'dead'
    LIMIT 10000
  ) AS counted
;

  SELECT id, COALESCE(due_at, created_at) AS since
  FROM sql_queue_jobs 
  WHERE id IN (?)
;

  SELECT id, queue, claim_id, runnable
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id <> 0
;

  SELECT id, worker_id, job_ids, start_limit
  FROM sql_queue_claims
  WHERE ? IS NULL OR queue = ?
;

  SELECT priority, COALESCE(due_at, created_at) AS since
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND priority > ? AND claim_id = 0
  ORDER BY priority, id
  LIMIT 1
;

  SELECT queue, declared, overrides, rate_until_us, rate_used, CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END AS rest_until, :now AS at
  FROM sql_queue_limits
;

  SELECT queue, paused, expires_after_ms, settings
  FROM sql_queue_queues
;

  SELECT queue, runnable, is_timed, is_grouped, priority, COUNT(*) AS jobs, MIN(run_at) AS due_at,
         MIN(CASE WHEN id IN (?) THEN NULL ELSE id END) AS first_id
  FROM (
    SELECT queue, runnable, priority, id, run_at,
           CASE WHEN run_at IS NULL THEN 0 ELSE 1 END AS is_timed,
           CASE WHEN group_key = '' THEN 0 ELSE 1 END AS is_grouped
    FROM sql_queue_jobs 
    WHERE queue > ?
    ORDER BY queue
    LIMIT ?
  ) AS entries
  GROUP BY queue, runnable, is_timed, is_grouped, priority
;

  SELECT queues
  FROM sql_queue_workers
  WHERE seen_at > :now - 60000
;

  WITH RECURSIVE names (queue) AS (
    SELECT MIN(queue)
    FROM sql_queue_jobs
    UNION ALL
    SELECT (SELECT MIN(t.queue) FROM sql_queue_jobs t WHERE t.queue > names.queue)
    FROM names
    WHERE names.queue IS NOT NULL
  )
  SELECT queue
  FROM names
  WHERE queue IS NOT NULL
;
SELECT :now AS at
;

-- stats.takeLease

  INSERT INTO sql_queue_stats (id)
  VALUES (1)
  ON CONFLICT (id) DO NOTHING
;

  UPDATE sql_queue_stats 
  SET lease_until = :now + 30000
  WHERE id = 1 AND (sampled_at = ? OR sampled_at NOT BETWEEN 0 AND 9007199254740991) AND lease_until NOT BETWEEN :now AND :now + 60000
;

-- stats.takeSample

  SELECT 
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at IS NULL
      LIMIT 10000
    ) AS counted
  ) AS waiting,
         
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 3
      LIMIT 10000
    ) AS counted
  ) AS grouped_n,
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 4
      LIMIT 10000
    ) AS counted
  ) AS grouped_n,
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 5
      LIMIT 10000
    ) AS counted
  ) AS grouped_n,
         
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 0
      LIMIT 10000
    ) AS counted
  ) AS scheduled,
         
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 1 AND run_at IS NOT NULL 
      LIMIT 10000
    ) AS counted
  ) AS plain_scheduled,
         
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 2
      LIMIT 10000
    ) AS counted
  ) AS staged,
         
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_jobs 
      WHERE queue = ? AND runnable = 6
      LIMIT 10000
    ) AS counted
  ) AS blocked,
         
  (
    SELECT COUNT(*)
    FROM (
      SELECT 1
      FROM sql_queue_history 
      WHERE queue = ? AND state = 'dead'
      LIMIT 10000
    ) AS counted
  ) AS dead,
         
  (
    SELECT run_at
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 0
    ORDER BY run_at
    LIMIT 1
  ) AS due_at,
         
  (
    SELECT run_at
    FROM sql_queue_jobs 
    WHERE queue = ? AND runnable = 1 AND run_at IS NOT NULL 
    ORDER BY run_at
    LIMIT 1
  ) AS plain_due_at,
         (
           SELECT COALESCE(due_at, created_at)
           FROM sql_queue_jobs 
           WHERE id = (
             SELECT MIN(id)
             FROM (
               SELECT id
               FROM (
                 SELECT id
                 FROM sql_queue_jobs 
                 WHERE queue = ? AND runnable = 3
                 LIMIT 10000
               ) AS ids_n UNION ALL 
               SELECT id
               FROM (
                 SELECT id
                 FROM sql_queue_jobs 
                 WHERE queue = ? AND runnable = 4
                 LIMIT 10000
               ) AS ids_n UNION ALL 
               SELECT id
               FROM (
                 SELECT id
                 FROM sql_queue_jobs 
                 WHERE queue = ? AND runnable = 5
                 LIMIT 10000
               ) AS ids_n) AS of_groups
             WHERE id NOT IN (?)
           )
         ) AS grouped_since
;

  SELECT id, queue, claim_id, runnable
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id <> 0
;

  SELECT id, worker_id, job_ids, start_limit
  FROM sql_queue_claims
  WHERE ? IS NULL OR queue = ?
;

  SELECT priority, COALESCE(due_at, created_at) AS since
  FROM sql_queue_jobs 
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND priority > ? AND claim_id = 0
  ORDER BY priority, id
  LIMIT 1
;

  SELECT queue, declared, overrides, rate_until_us, rate_used, CASE WHEN rest_ms > 0 AND rest_until > :now + rest_ms + 1000 THEN 0 ELSE rest_until END AS rest_until, :now AS at
  FROM sql_queue_limits
;

  SELECT queue, paused, expires_after_ms, settings
  FROM sql_queue_queues
;

  SELECT queues
  FROM sql_queue_workers
  WHERE seen_at > :now - 60000
;

  UPDATE sql_queue_stats 
  SET sample = ?, sampled_at = ?, took_ms = ?, lease_until = 0
  WHERE id = 1
;

  WITH RECURSIVE names (queue) AS (
    SELECT MIN(queue)
    FROM sql_queue_jobs
    UNION ALL
    SELECT (SELECT MIN(t.queue) FROM sql_queue_jobs t WHERE t.queue > names.queue)
    FROM names
    WHERE names.queue IS NOT NULL
  )
  SELECT queue
  FROM names
  WHERE queue IS NOT NULL
;
SELECT :now AS at
;

-- steps.list

  SELECT name, state, result, until_at, signal_key, :now AS at
  FROM sql_queue_steps 
  WHERE job_id = ? AND name < ?
  ORDER BY name DESC
  LIMIT ?
;

  SELECT name, state, result, until_at, signal_key, :now AS at
  FROM sql_queue_steps 
  WHERE job_id = ? AND name > ?
  ORDER BY name ASC
  LIMIT ?
;

-- steps.pruneSteps

  DELETE FROM sql_queue_signals
  WHERE hash = ? AND sent_at <= :now - 2592000000
;

  DELETE FROM sql_queue_steps
  WHERE job_id = ? AND name > '' AND expires_at > 0
;

  SELECT hash
  FROM sql_queue_signals 
  WHERE sent_at <= :now - 2592000000
  ORDER BY sent_at
  LIMIT ?
;

  SELECT id, CASE WHEN expires_at > :now THEN expires_at ELSE :now END + ? AS at
  FROM sql_queue_history
  WHERE id IN (?)
  UNION ALL
  SELECT id, :now + ? AS at
  FROM sql_queue_jobs
  WHERE id IN (?)
;

  SELECT job_id, state
  FROM sql_queue_steps 
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT ? 
;

  UPDATE sql_queue_steps 
  SET expires_at = ?
  WHERE job_id = ? AND name > ''
;

-- steps.readSteps

  SELECT name, state, result, until_at
  FROM sql_queue_steps
  WHERE job_id = ?
;
SELECT :now AS at
;

-- steps.signal

  INSERT INTO sql_queue_signals (hash, name, signal_key, data, sent_at)
  VALUES (?, ?, ?, ?, :now)
  ON CONFLICT (hash) DO NOTHING
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT MIN(queue) AS first_queue, MAX(queue) AS last_queue
  FROM (
    SELECT j.queue
    FROM sql_queue_steps s  JOIN sql_queue_jobs j  ON j.id = s.job_id
    WHERE s.signal_hash = ?
    LIMIT 1000
  ) waiting
;

  UPDATE sql_queue_signals 
  SET data = ?, sent_at = :now, awaited = 0
  WHERE hash = ?
;

-- steps.signals

  SELECT g.hash, g.name, g.signal_key, g.sent_at,
         CASE WHEN g.awaited = 1 OR EXISTS (
                SELECT 1
                FROM sql_queue_steps s 
                WHERE s.signal_hash = g.hash
                  AND EXISTS (SELECT 1 FROM sql_queue_jobs j  WHERE j.id = s.job_id)
              )
              THEN 1 ELSE 0 END AS awaited
  FROM sql_queue_signals g 
  WHERE 1 = 1
  ORDER BY g.sent_at DESC, g.hash DESC
  LIMIT ?
;

-- steps.startSleep

  INSERT INTO sql_queue_steps (job_id, name, state, result, until_at, signal_hash, signal_key, expires_at)
  VALUES (?, ?, ?, ?, COALESCE(?, :now + ?), ?, ?, :now + 3600000)
;

  SELECT id, queue, name, options
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT name, state, result, until_at, :now AS at
  FROM sql_queue_steps 
  WHERE job_id = ? AND name = ? 
;

-- steps.transactStep

  INSERT INTO sql_queue_steps (job_id, name, state, result, until_at, signal_hash, signal_key, expires_at)
  VALUES (?, ?, ?, ?, COALESCE(?, :now + ?), ?, ?, :now + 3600000)
;

  SELECT id, queue, name, options
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

-- steps.waitForSignal

  INSERT INTO sql_queue_steps (job_id, name, state, result, until_at, signal_hash, signal_key, expires_at)
  VALUES (?, ?, ?, ?, COALESCE(?, :now + ?), ?, ?, :now + 3600000)
;

  SELECT data, awaited
  FROM sql_queue_signals
  WHERE hash = ?
;

  SELECT hash
  FROM sql_queue_signals 
  WHERE hash = ? AND awaited = 0 
;

  SELECT id, queue, name, options
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT name, state, result, until_at, :now AS at
  FROM sql_queue_steps 
  WHERE job_id = ? AND name = ? 
;

  UPDATE sql_queue_signals 
  SET awaited = 1
  WHERE hash = ?
;

  UPDATE sql_queue_steps 
  SET state = 'done', result = ?, signal_hash = NULL
  WHERE job_id = ? AND name = ?
;

-- steps.waits

  SELECT s.signal_hash, s.job_id, s.name, s.signal_key, s.until_at, j.queue, j.name AS job_name,
         CASE WHEN EXISTS (SELECT 1 FROM sql_queue_signals g WHERE g.hash = s.signal_hash) THEN 1 ELSE 0 END AS is_sent
  FROM sql_queue_steps s  LEFT JOIN sql_queue_jobs j  ON j.id = s.job_id
  WHERE s.signal_hash = ? AND (s.job_id > ? OR (s.job_id = ? AND s.name > ?))
  ORDER BY s.job_id, s.name
  LIMIT ?
;

  SELECT s.signal_hash, s.job_id, s.name, s.signal_key, s.until_at, j.queue, j.name AS job_name,
         CASE WHEN EXISTS (SELECT 1 FROM sql_queue_signals g WHERE g.hash = s.signal_hash) THEN 1 ELSE 0 END AS is_sent
  FROM sql_queue_steps s  LEFT JOIN sql_queue_jobs j  ON j.id = s.job_id
  WHERE s.signal_hash >= ?
    AND (s.signal_hash > ? OR s.job_id > ? OR (s.job_id = ? AND s.name > ?))
  ORDER BY s.signal_hash, s.job_id, s.name
  LIMIT ?
;

-- steps.wakeMissed

  SELECT s.signal_hash, s.job_id, s.name, s.until_at,
         CASE WHEN EXISTS (SELECT 1 FROM sql_queue_signals g WHERE g.hash = s.signal_hash)
               AND EXISTS (
                 SELECT 1
                 FROM sql_queue_jobs j 
                 WHERE j.id = s.job_id AND j.state = 'scheduled' AND j.run_at = s.until_at
               )
              THEN 1 ELSE 0 END AS is_missed
  FROM sql_queue_steps s 
  WHERE s.signal_hash >= ?
    AND (s.signal_hash > ? OR s.job_id > ? OR (s.job_id = ? AND s.name > ?))
  ORDER BY s.signal_hash, s.job_id, s.name
  LIMIT ?
;

-- steps.wakeWaiting

  SELECT id, queue, name, priority, attempt, run_at
  FROM sql_queue_jobs 
  WHERE (id IN (?)) AND state = 'scheduled' AND claim_id = 0
  ORDER BY id 
;

  SELECT s.signal_hash, s.job_id, s.name, s.until_at
  FROM sql_queue_steps s 
  WHERE s.signal_hash = ? AND (s.job_id > ? OR (s.job_id = ? AND s.name > ?))
    AND EXISTS (SELECT 1 FROM sql_queue_signals g WHERE g.hash = s.signal_hash)
  ORDER BY s.job_id, s.name
  LIMIT ?
;

-- steps.writeStep

  INSERT INTO sql_queue_steps (job_id, name, state, result, until_at, signal_hash, signal_key, expires_at)
  VALUES (?, ?, ?, ?, COALESCE(?, :now + ?), ?, ?, :now + 3600000)
;

  SELECT id, queue, name, options
  FROM sql_queue_jobs 
  WHERE id = ? AND claim_id = ? 
;

  SELECT name, state, result, until_at, :now AS at
  FROM sql_queue_steps 
  WHERE job_id = ? AND name = ? 
;

-- subjects.count

  SELECT job_id AS id, blobs
  FROM sql_queue_subjects 
  WHERE subject = ? AND job_id > ?
  ORDER BY job_id
  LIMIT ?
;

-- subjects.erase

  DELETE FROM sql_queue_jobs
  WHERE (id IN (?)) AND claim_id = ?
;

  DELETE FROM sql_queue_logs
  WHERE job_id = ? AND number >= 1 AND logged_at > 0
;

  DELETE FROM sql_queue_progress
  WHERE job_id IN (?) AND updated_at > 0
;

  DELETE FROM sql_queue_signals
  WHERE hash = ? AND sent_at > 0
;

  DELETE FROM sql_queue_steps
  WHERE job_id = ? AND name > '' AND expires_at > 0
;

  DELETE FROM sql_queue_subjects
  WHERE subject = ? AND job_id = ? AND expires_at > 0
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  REPLACE INTO sql_queue_history (id, queue, name, state, priority, attempt, max_attempts, worker_id, created_at, started_at,
         finished_at, expires_at, payload, headers, options, result, error, due_at, owner)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?, ?, ?)
;

  SELECT id
  FROM sql_queue_events
  WHERE job_id IN (?) AND (result IS NOT NULL OR error IS NOT NULL)
;

  SELECT id
  FROM sql_queue_jobs
  WHERE id IN (?) AND claim_id <> 0
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, queue, CASE WHEN runnable = 2 THEN 1 WHEN run_at IS NULL THEN 0
         ELSE EXISTS (SELECT 1 FROM sql_queue_stages WHERE job_id = sql_queue_jobs.id) END AS is_staged
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id = 0
  ORDER BY id 
;

  SELECT id, queue, options,
    CASE WHEN SUBSTR(payload, 1, 28) = ? THEN payload END AS payload
  FROM sql_queue_jobs 
  WHERE id IN (?) AND claim_id = 0
  ORDER BY id 
;

  SELECT id, queue, options,
    CASE WHEN SUBSTR(payload, 1, 28) = ? THEN payload END AS payload,
    CASE WHEN SUBSTR(result, 1, 28) = ? THEN result END AS result
  FROM sql_queue_history 
  WHERE id IN (?)
  ORDER BY id 
;

  SELECT job_id AS id, blobs
  FROM sql_queue_subjects 
  WHERE subject = ? AND job_id > ?
  ORDER BY job_id
  LIMIT ?
;

  SELECT job_id, needs
  FROM sql_queue_edges 
  WHERE needs IN (?)
;

  SELECT signal_hash AS hash
  FROM sql_queue_steps
  WHERE job_id IN (?) AND signal_hash IS NOT NULL
;

  UPDATE sql_queue_edges 
  SET result = NULL, error = NULL
  WHERE job_id = ? AND needs = ?
;

  UPDATE sql_queue_edges 
  SET state = CASE WHEN ? = 'completed' OR on_failure = 'run' THEN 'done' WHEN on_failure = 'wait' THEN 'open' ELSE 'failed' END, outcome = ?, result = NULL, error = NULL
  WHERE (needs IN (?)) AND state = 'open'
;

  UPDATE sql_queue_history 
  SET payload = 'null', headers = NULL, result = NULL, error = NULL, options = ?
  WHERE id = ?
;

  UPDATE sql_queue_jobs 
  SET payload = 'null', headers = NULL, error = NULL, options = ?
  WHERE id = ? AND claim_id = 0
;

-- subjects.eraseSignals

  DELETE FROM sql_queue_signals
  WHERE hash = ? AND sent_at > 0
;

  REPLACE INTO sql_queue_audit (id, verb, queue, made_by, details, changed, changed_at)
  VALUES (?, ?, ?, ?, ?, ?, :now)
;

  SELECT hash
  FROM sql_queue_signals
  WHERE signal_key = ?
;

-- subjects.prune

  DELETE FROM sql_queue_subjects
  WHERE subject = ? AND job_id = ? AND expires_at <= :now
;

  SELECT DISTINCT job_id AS id
  FROM sql_queue_edges 
  WHERE job_id IN (?) AND fan_out > 0 
;

  SELECT id, :now + 2592000000 AS at
  FROM kept_jobs
  WHERE id IN (?)
;

  SELECT id, CASE WHEN expires_at > :now THEN expires_at ELSE :now END + ? AS at
  FROM sql_queue_history
  WHERE id IN (?)
  UNION ALL
  SELECT id, :now + ? AS at
  FROM sql_queue_jobs
  WHERE id IN (?)
;

  SELECT job_id AS id
  FROM sql_queue_progress 
  WHERE job_id IN (?) 
;

  SELECT job_id AS id, MAX(CASE WHEN state = 'done' THEN 0 ELSE 1 END) AS waits
  FROM sql_queue_steps 
  WHERE job_id IN (?)
  GROUP BY job_id 
;

  SELECT subject, job_id, blobs
  FROM sql_queue_subjects 
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT ?
;

  UPDATE sql_queue_subjects 
  SET expires_at = ?
  WHERE subject = ? AND job_id = ?
;

  UPDATE sql_queue_subjects 
  SET expires_at = ?
  WHERE subject = ? AND job_id = ? AND expires_at <= :now
;

-- waits.deleteOutcomes

  DELETE FROM sql_queue_history
  WHERE (id IN (?))
;

  DELETE FROM sql_queue_logs
  WHERE job_id = ? AND number >= 1 AND logged_at > 0
;

  DELETE FROM sql_queue_progress
  WHERE job_id IN (?) AND updated_at > 0
;

  DELETE FROM sql_queue_waits
  WHERE waiter = ? AND job_id IN (?) AND expires_at > 0
;

-- waits.pruneWaits

  DELETE FROM sql_queue_waits
  WHERE waiter = ? AND job_id IN (?) AND expires_at <= :now
;

  SELECT waiter, job_id
  FROM sql_queue_waits 
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT ? 
;

-- waits.readJobs

  SELECT id, queue, state, result, error, options
  FROM sql_queue_history
  WHERE id IN (?)
  UNION ALL
  SELECT id, queue, state, NULL, NULL, options
  FROM sql_queue_jobs
  WHERE id IN (?)
  LIMIT ?
;

-- waits.register

  REPLACE INTO sql_queue_waits (waiter, job_id, expires_at)
  VALUES (?, ?, :now + ?)
;

-- waits.removedOf

  SELECT job_id
  FROM sql_queue_waits 
  WHERE waiter = ? AND job_id IN (?) AND expires_at = 1
  LIMIT ?
;

-- waits.unregister

  DELETE FROM sql_queue_waits
  WHERE waiter = ? AND job_id IN (?) AND expires_at > 0
;

-- waits.waitersOf

  SELECT DISTINCT waiter
  FROM sql_queue_waits 
  WHERE job_id IN (?)
;

-- workers.deregister

  DELETE FROM sql_queue_workers
  WHERE id = ?
;

-- workers.markSeen

  UPDATE sql_queue_workers 
  SET seen_at = :now
  WHERE id = ?
;

-- workers.register

  DELETE FROM sql_queue_workers
  WHERE id = ?
;

  DELETE FROM sql_queue_workers
  WHERE id IN (?) AND seen_at < :now - 86400000
;

  INSERT INTO sql_queue_workers (id, host, pid, queues, slots, excluded, started_at, seen_at)
  VALUES (?, ?, ?, ?, ?, ?, :now, :now)
;

  INSERT OR IGNORE INTO sql_queue_queues (queue, paused, created_at)
  VALUES (?, 0, :now)
;

  SELECT id
  FROM sql_queue_commit_log
  WHERE seen_at < :now - 86400000
;

  SELECT id
  FROM sql_queue_workers
  WHERE seen_at < :now - 86400000
;

  SELECT queue
  FROM sql_queue_queues
  WHERE queue IN (?) AND served_at IS NOT NULL
;

  UPDATE sql_queue_queues 
  SET served_at = :now
  WHERE queue IN (?) AND served_at IS NULL
;

-- workers.setQueues

  SELECT queue
  FROM sql_queue_queues
  WHERE queue IN (?) AND served_at IS NOT NULL
;

  UPDATE sql_queue_queues 
  SET served_at = :now
  WHERE queue IN (?) AND served_at IS NULL
;

  UPDATE sql_queue_workers 
  SET queues = ?
  WHERE id = ?
;
