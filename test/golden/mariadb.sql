-- `npm run golden` writes this file. It has the differences from mysql.sql.

-- jobs.claim by lock, only on MariaDB

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key
  FROM sql_queue_jobs FORCE INDEX (PRIMARY)
  WHERE (id IN (?)) AND queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting'
  ORDER BY id
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT priority, id 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' 
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' 
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?) OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?) OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > COALESCE((
      SELECT MAX(c.last_id)
      FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
      WHERE c.queue = ? AND c.last_priority = ? AND c.last_id > ?), ?)) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

-- jobs.claim by lock, only on MySQL

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting'
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting'
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?) OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?) OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

-- jobs.claim by skip-locked, only on MariaDB

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key
  FROM sql_queue_jobs FORCE INDEX (PRIMARY)
  WHERE (id IN (?)) AND queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting'
  ORDER BY id
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT priority, id 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' 
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' 
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?) OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?) OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > COALESCE((
      SELECT MAX(c.last_id)
      FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
      WHERE c.queue = ? AND c.last_priority = ? AND c.last_id > ?), ?)) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

-- jobs.claim by skip-locked, only on MySQL

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting'
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting'
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?) OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?) OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ? OR (u.priority > ? AND u.priority < ?))
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR (priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent,
         (SELECT c.last_priority
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedPriority,
         (SELECT c.last_id
          FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
          WHERE c.queue = ?
          ORDER BY c.queue DESC, c.last_priority DESC, c.last_id DESC
          LIMIT 1) AS lastClaimedId 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

-- jobs.completeAndClaim by lock, only on MariaDB

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key
  FROM sql_queue_jobs FORCE INDEX (PRIMARY)
  WHERE (id IN (?)) AND queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting'
  ORDER BY id
  FOR UPDATE SKIP LOCKED
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > COALESCE((
      SELECT MAX(c.last_id)
      FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
      WHERE c.queue = ? AND c.last_priority = ? AND c.last_id > ?), ?)) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

-- jobs.completeAndClaim by lock, only on MySQL

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > COALESCE((
      SELECT MAX(c.last_id)
      FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
      WHERE c.queue = ? AND c.last_priority = ? AND c.last_id > ?), ?)) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;

-- jobs.completeAndClaim by skip-locked, only on MariaDB

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key
  FROM sql_queue_jobs FORCE INDEX (PRIMARY)
  WHERE (id IN (?)) AND queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting'
  ORDER BY id
  FOR UPDATE SKIP LOCKED
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

  SELECT priority, id, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > COALESCE((
      SELECT MAX(c.last_id)
      FROM sql_queue_claims c FORCE INDEX (sql_queue_claims_position)
      WHERE c.queue = ? AND c.last_priority = ? AND c.last_id > ?), ?)) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
;

-- jobs.completeAndClaim by skip-locked, only on MySQL

  SELECT id, name, priority, attempt, max_attempts, created_at, payload, headers, options, error, due_at, group_key, 
         (SELECT u.priority
          FROM sql_queue_jobs u FORCE INDEX (sql_queue_jobs_queue)
          WHERE u.queue = ? AND u.runnable = 1 AND u.state = 'waiting' AND u.run_at IS NULL AND u.group_key = ''
            AND (u.priority < ?)
          ORDER BY u.priority DESC, u.id DESC
          LIMIT 1) AS moreUrgent 
  FROM sql_queue_jobs FORCE INDEX (sql_queue_jobs_queue)
  WHERE queue = ? AND runnable = 1 AND run_at IS NULL AND group_key = '' AND state = 'waiting' AND ((priority = ? AND id > ?) OR priority > ?)
  ORDER BY priority, id
  LIMIT ?
  FOR UPDATE SKIP LOCKED
;
