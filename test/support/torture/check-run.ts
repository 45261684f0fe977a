import type { Connection, RowDataPacket } from 'mysql2/promise';
import { findViolations, type FinishedJob } from '../history-checker.js';
import { readJournals } from '../journal.js';
import { findFlowViolations, type Edge } from './flow-checker.js';
import { CHILD_MARK, NO_SIGNAL } from './torture-job.js';
import { findFlowControlViolations, type FlowControlRecord } from './flow-control-checker.js';
import { findUnprovokedRescues } from './unprovoked-rescues.js';
import { readTimeouts } from './timeouts.js';
import { findTokenViolations, type TokenJob } from './token-checker.js';

export interface RunCheck {
  /** The number of jobs per state, and the number of acknowledged jobs. */
  readonly jobs: Readonly<Record<string, number>>;
  /** The number of completed jobs per queue. */
  readonly completed: Readonly<Record<string, number>>;
  readonly found: readonly string[];
}

type TortureRecord = FinishedJob & TokenJob & { queue: string; tick?: number; createdAt: number; error: string };

/** Reads the journals and the final database. Returns counts of jobs, and violations of guarantees. */
export async function checkRun(
  admin: Connection,
  journals: string,
  jumps: FlowControlRecord['jumps'],
): Promise<RunCheck> {
  const rows = async (sql: string) => (await admin.query<RowDataPacket[]>(sql))[0];
  const columns = 'id, queue, state, attempt, payload, options, error, created_at';
  const all = `SELECT ${columns} FROM sql_queue_history UNION ALL SELECT ${columns} FROM sql_queue_jobs`;
  const entries = readJournals(journals);
  const replacing = new Set(entries.flatMap(({ token, replaces }) => (replaces ? [token] : [])));
  const records = (await rows(all)).map(
    ({ id, queue, state, attempt, payload, options, error, created_at }): TortureRecord => ({
      ...{ id: Number(id), queue: queue as string, state: (state as string).trim(), attempt: Number(attempt) },
      ...(JSON.parse(payload) as { token: string; kind: string }),
      tick: (JSON.parse((options as string | null) ?? '{}') as { schedule?: { at: number } }).schedule?.at,
      createdAt: Number(created_at),
      error: (error as string | null) ?? '',
    }),
  );
  const jobs = records.map((job) => ({ ...job, hasReplaced: replacing.has(job.token) }));
  const orders = new Set((await rows('SELECT token FROM orders')).map(({ token }) => token as string));
  const effects = (await rows('SELECT job_id FROM effects')).map(({ job_id }) => Number(job_id));
  const underLock = new Set(jobs.filter(({ queue }) => queue === 'lock').map(({ id }) => id));
  const found = [
    ...findViolations(withAcknowledged(entries, jobs), jobs, await readTimeouts(admin)),
    ...findTokenViolations(entries, {
      jobs: jobs.filter(({ tick, token }) => tick === undefined && !token.includes(CHILD_MARK)),
      ...{ orders, effects },
    }),
    ...findFlowViolations(entries, jobs, await readEdges(rows)),
    ...findFlowControlViolations({
      stepEffects: (await rows('SELECT token FROM step_effects')).map(({ token }) => token as string),
      completedWithSteps: jobs
        .filter(({ kind, state }) => ['steps', 'waits'].includes(kind) && state === 'completed')
        .map(({ token }) => token),
      jumps,
      ticks: jobs.flatMap(({ tick, createdAt }) => (tick === undefined ? [] : { at: tick, enqueuedAt: createdAt })),
    }),
    ...findUnprovokedRescues(entries, underLock),
    ...jobs.flatMap(({ id, error }) => (error.includes(NO_SIGNAL) ? [`job ${id} did not receive its signal`] : [])),
  ];
  const states: Record<string, number> = { acknowledged: entries.filter(({ kind }) => kind === 'enqueued').length };
  for (const { state } of jobs) states[state] = (states[state] ?? 0) + 1;
  const completed: Record<string, number> = {};
  for (const { queue, state } of jobs) if (state === 'completed') completed[queue] = (completed[queue] ?? 0) + 1;
  return { jobs: states, completed, found };
}

async function readEdges(rows: (sql: string) => Promise<RowDataPacket[]>): Promise<Edge[]> {
  const edges = await rows('SELECT job_id, needs, state FROM sql_queue_edges WHERE job_id > 0');
  return edges.map(({ job_id, needs, state }) => ({ job: Number(job_id), needs: Number(needs), state: String(state) }));
}

/** Adds an `enqueued` entry for each job that ran, or whose producer was killed before its acknowledgement. */
function withAcknowledged(entries: ReturnType<typeof readJournals>, jobs: readonly TokenJob[]) {
  const known = new Set(entries.map(({ job }) => job));
  const unanswered = jobs.filter(({ id }) => !known.has(id));
  const put = unanswered.map(({ id: job }) => ({ kind: 'enqueued' as const, by: 'unknown', job, attempt: 0, at: 0 }));
  return [...put, ...entries.filter(({ kind }) => !['tried', 'refused', 'unsure', 'signalled'].includes(kind))];
}
