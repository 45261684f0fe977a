import type { Connection, RowDataPacket } from 'mysql2/promise';
import { violations, type Finished } from '../history-checker.js';
import { readJournals } from '../journal.js';
import { calmViolations } from './calm-checker.js';
import { timeoutsOf } from './timeouts.js';
import { tokenViolations, type Ended } from './token-checker.js';

export interface Judgement {
  /** How many in each state, and how many producers were told of. */
  readonly jobs: Readonly<Record<string, number>>;
  /** How many of each queue. */
  readonly completed: Readonly<Record<string, number>>;
  readonly found: readonly string[];
}

/** Reads what the processes noted, and what the database has in the end: how many jobs became what, and what must not be. */
export async function judge(admin: Connection, journals: string): Promise<Judgement> {
  const rows = async (sql: string) => (await admin.query<RowDataPacket[]>(sql))[0];
  const columns = 'id, queue, state, attempt, payload';
  const all = `SELECT ${columns} FROM sql_queue_history UNION ALL SELECT ${columns} FROM sql_queue_jobs`;
  const jobs = (await rows(all)).map(
    ({ id, queue, state, attempt, payload }): Finished & Ended & { queue: string } => ({
      ...{ id: Number(id), queue: queue as string, state: (state as string).trim(), attempt: Number(attempt) },
      ...(JSON.parse(payload) as { token: string; kind: string }),
    }),
  );
  const orders = new Set((await rows('SELECT token FROM orders')).map(({ token }) => token as string));
  const effects = (await rows('SELECT job_id FROM effects')).map(({ job_id }) => Number(job_id));
  const entries = readJournals(journals);
  const underLock = new Set(jobs.filter(({ queue }) => queue === 'lock').map(({ id }) => id));
  const found = [
    ...violations(withAcknowledged(entries, jobs), jobs, await timeoutsOf(admin)),
    ...tokenViolations(entries, { jobs, orders, effects }),
    ...calmViolations(entries, underLock),
  ];
  const states: Record<string, number> = { acknowledged: entries.filter(({ kind }) => kind === 'enqueued').length };
  for (const { state } of jobs) states[state] = (states[state] ?? 0) + 1;
  const completed: Record<string, number> = {};
  for (const { queue, state } of jobs) if (state === 'completed') completed[queue] = (completed[queue] ?? 0) + 1;
  return { jobs: states, completed, found };
}

/** Jobs that ran, or whose producer was killed before it heard of them, came from somewhere all the same. */
function withAcknowledged(entries: ReturnType<typeof readJournals>, jobs: readonly Ended[]) {
  const known = new Set(entries.map(({ job }) => job));
  const unheard = jobs.filter(({ id }) => !known.has(id));
  const put = unheard.map(({ id: job }) => ({ kind: 'enqueued' as const, by: 'nobody', job, attempt: 0, at: 0 }));
  return [...put, ...entries.filter(({ kind }) => !['tried', 'refused', 'unsure'].includes(kind))];
}
