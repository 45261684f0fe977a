// Fills the tables of a new database with 1.1 million unfinished and 1.1 million finished jobs.

/** The numbers of rows, times the scale. */
const SIZES = { waiting: 900_000, scheduled: 50_000, grouped: 50_000, staged: 20_000, small: 80_000 };
export const DEAD = 100_000;
export const COMPLETED = 1_000_000;
const ASSIGNED = 1_000;
const PREFETCHED = 1_000;
export const AUDIT = 200_000;
const FLOW_JOBS = 1_000;
const LOG_LINES = 1_000;
const QUEUES = 20;
export const FIRST_DEAD = 10_000_000;
export const FIRST_COMPLETED = 20_000_000;
export const GROUPS = 1_000;

const CHUNK = 100_000;
const FAR = 4_000_000_000_000;
// As the pages of the board and the command show it.
const PAYLOAD = '{"to":"ann@example.com","template":"order-confirmed","total":1999}';
const ERROR = `CONCAT('{"name":"Error","message":"550 mailbox unavailable","code":"E', n % 7, '"}')`;
const OPTIONS = `IF(n % 100 = 0, CONCAT('{"key":"order-', n, '"}'), NULL)`;
const HEADERS = `IF(n % 2 = 0, CONCAT('{"tenant":"t', n % 1000, '"}'), NULL)`;

/**
 * @param sql runs a statement
 * @param prefix of the tables
 */
export async function seed(sql, prefix, scale) {
  const at = Date.now();
  const rows = (size) => Math.max(100, Math.round(size * scale));
  const chunks = async (size, statement) => {
    for (let from = 0; from < rows(size); from += CHUNK)
      await sql(statement(sequence(from, Math.min(CHUNK, rows(size) - from))));
  };
  const job = `INSERT INTO ${prefix}jobs (queue, name, payload, headers, options, priority, runnable, run_at, group_key)`;
  const of = (queue, more) => (numbers) =>
    `${job} SELECT ${queue}, CONCAT('n', n % 10), '${PAYLOAD}', ${HEADERS}, ${OPTIONS}, ${more} FROM ${numbers}`;
  await chunks(SIZES.waiting, of(`'large'`, `n % 3, 1, NULL, ''`));
  await chunks(SIZES.scheduled, of(`'large'`, `0, 0, ${FAR} + n, ''`));
  await chunks(SIZES.grouped, of(`'grouped'`, `0, 3, NULL, CONCAT('g', n % ${GROUPS})`));
  await chunks(SIZES.staged, of(`'review'`, `0, 2, NULL, ''`));
  await chunks(SIZES.small, of(`CONCAT('small-', n % ${QUEUES})`, `0, 1, NULL, ''`));
  await sql(`INSERT INTO ${prefix}stages (job_id, queue, stage, priority)
    SELECT id, queue, 'second opinion', priority FROM ${prefix}jobs WHERE queue = 'review' AND runnable = 2`);

  const finished = (state, from, more) => (numbers) =>
    `INSERT INTO ${prefix}history (id, queue, name, state, priority, attempt, worker_id, created_at, started_at,
       finished_at, expires_at, payload, headers, options, owner, error)
     SELECT n + ${from}, IF(n % 10 = 0, CONCAT('small-', n DIV 10 % ${QUEUES}), 'large'), CONCAT('n', n % 10), '${state}', 0, 1,
       CONCAT('worker-', n % 100), ${at} - n, ${at} - n, ${at} - n, ${FAR}, '${PAYLOAD}', ${HEADERS}, ${OPTIONS},
       IF(n % 50 = 0, CONCAT('person-', n % 40), NULL), ${more} FROM ${numbers}`;
  await chunks(DEAD, finished('dead', FIRST_DEAD, ERROR));
  await chunks(COMPLETED, finished('completed', FIRST_COMPLETED, 'NULL'));

  await assign(sql, prefix, at);
  await sql(`INSERT INTO ${prefix}groups (queue, group_key, state, turn, head_priority, head_id)
    SELECT 'grouped', CONCAT('g', n), 'ready', ${at}, 0, 0 FROM ${sequence(0, GROUPS)}`);
  await chunks(
    AUDIT,
    (numbers) => `INSERT INTO ${prefix}audit (id, verb, queue, made_by, details, changed, changed_at)
     SELECT n + 1, ELT(1 + n % 3, 'retry', 'pause', 'cancel'), IF(n % 5 = 0, NULL, 'large'), CONCAT('person-', n % 40),
       '{"which":{"queue":"large"}}', 1, ${at} - n FROM ${numbers}`,
  );
  await sql(`INSERT INTO ${prefix}workers (id, host, pid, queues, started_at, seen_at)
    SELECT CONCAT('worker-', n), 'host', n, '{"large":20,"grouped":10}', ${at}, ${at} FROM ${sequence(0, 100)}`);
  await sql(`INSERT INTO ${prefix}subscriptions (queue, topic, created_at)
    SELECT CONCAT('small-', n % ${QUEUES}), CONCAT('topic-', n), ${at} FROM ${sequence(0, 1_000)}`);
  await sql(`INSERT INTO ${prefix}flows (id, created_at, expires_at) VALUES (1, ${at}, ${FAR})`);
  await sql(`INSERT INTO ${prefix}edges (job_id, needs, queue, name, on_failure)
    SELECT -1, n + 1, 'large', 'n', 'cancel' FROM ${sequence(0, FLOW_JOBS)}`);
  await sql(`INSERT INTO ${prefix}logs (job_id, number, logged_at, line)
    SELECT ${FIRST_COMPLETED}, n + 1, ${at} + n, 'accepted by mx1.example.net' FROM ${sequence(0, LOG_LINES)}`);
  await metrics(sql, prefix, at);
  await sql(
    `ANALYZE TABLE ${['jobs', 'history', 'claims', 'stages', 'audit', 'edges', 'logs', 'metrics', 'groups']
      .map((table) => prefix + table)
      .join(', ')}`,
  );
}

/** Active jobs: one per claim of a person, ten per claim of a worker. */
async function assign(sql, prefix, at) {
  const [jobs] = await sql(
    `SELECT id FROM ${prefix}jobs WHERE queue = 'large' ORDER BY id LIMIT ${ASSIGNED + PREFETCHED}`,
  );
  const ids = jobs.map(({ id }) => Number(id));
  const people = ids.slice(0, ASSIGNED).map((id) => ({ ids: [id], worker: '', owner: `'person-${id % 40}'` }));
  const prefetched = ids.slice(ASSIGNED);
  const workers = Array.from({ length: PREFETCHED / 10 }, (_, index) => ({
    ...{ ids: prefetched.slice(index * 10, index * 10 + 10), worker: `worker-${index}`, owner: 'NULL' },
  }));
  for (const { ids: claimed, worker, owner } of [...people, ...workers]) {
    const [id] = claimed;
    await sql(`INSERT INTO ${prefix}claims
        (id, worker_id, queue, job_ids, start_limit, lease_ms, lease_until, claimed_at, owner)
      VALUES (${id}, '${worker}', 'large', '${JSON.stringify(claimed)}', 1, 60000, ${FAR}, ${at}, ${owner})`);
    await sql(`UPDATE ${prefix}jobs SET state = 'active', claim_id = ${id} WHERE id IN (${claimed.join(', ')})`);
  }
}

/** A day of minutes, a month of hours and a year of days of each queue. */
async function metrics(sql, prefix, at) {
  const buckets = '[0,0,0,0,0,0,0,0,3,40,60,20,7,2,1]';
  for (const [step, count] of [
    [60_000, 1_440],
    [3_600_000, 720],
    [86_400_000, 365],
  ])
    await sql(`INSERT INTO ${prefix}metrics (queue, step_ms, starts_at, recorder, completed, failed, dead, cancelled, waits, runs)
      SELECT queue, ${step}, ${at - (at % step)} - (n + 1) * ${step}, 0, 120, 10, 3, 0, '${buckets}', '${buckets}'
      FROM ${sequence(0, count)} CROSS JOIN (SELECT DISTINCT queue FROM ${prefix}jobs) AS queues`);
}

/** A table of numbers, from the first one on. At most 100,000. */
export function sequence(from, size) {
  const digits = `(${Array.from({ length: 10 }, (_, digit) => `SELECT ${digit}${digit ? '' : ' AS d'}`).join(' UNION ALL ')})`;
  const powers = [1, 10, 100, 1_000, 10_000].filter((power) => power < size);
  const joins = powers.map((power) => `${digits} AS p${power}`).join(' CROSS JOIN ');
  const number = powers.map((power) => `${power} * p${power}.d`).join(' + ');
  return `(SELECT ${from} + n AS n FROM (SELECT ${number} AS n FROM ${joins}) AS up WHERE n < ${size}) AS numbers`;
}
