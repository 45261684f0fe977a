import type { Entry } from '../journal.js';

/** A job as the database has it in the end, in the history or not. */
export interface Ended {
  readonly id: number;
  readonly token: string;
  readonly kind: string;
  readonly state: string;
}

export interface Remains {
  readonly jobs: readonly Ended[];
  /** What producers wrote in the transactions of their jobs. */
  readonly orders: ReadonlySet<string>;
  /** For each row that a handler wrote in its job's own transaction, the job. */
  readonly effects: readonly number[];
}

/** Names what must never have become of jobs that producers put in, by what each producer was told; empty where nothing. */
export function tokenViolations(entries: readonly Entry[], { jobs, orders, effects }: Remains): string[] {
  const found: string[] = [];
  const byToken = new Map<string, Ended[]>();
  for (const job of jobs) byToken.set(job.token, [...(byToken.get(job.token) ?? []), job]);
  for (const [token, same] of byToken) if (same.length > 1) found.push(`token ${token} is in ${same.length} jobs`);

  const tried = new Set<string>();
  for (const { kind, token, job } of entries) {
    if (token === undefined) continue;
    const ids = (byToken.get(token) ?? []).map(({ id }) => id);
    if (kind === 'tried') tried.add(token);
    if (kind === 'enqueued' && !ids.includes(job)) found.push(`job ${job} of token ${token} was acknowledged and lost`);
    if (kind === 'refused' && ids.length > 0) found.push(`job ${ids[0]} of token ${token} was refused and is there`);
  }
  for (const token of byToken.keys()) if (!tried.has(token)) found.push(`token ${token} came from nowhere`);
  for (const token of orders) if (!byToken.has(token)) found.push(`order ${token} committed without its job`);

  const completed = new Set(jobs.filter(({ state }) => state === 'completed').map(({ id }) => id));
  const seen = new Set<number>();
  for (const id of effects) {
    if (seen.has(id)) found.push(`job ${id} had its effect twice`);
    if (!completed.has(id)) found.push(`job ${id} had its effect and did not complete`);
    seen.add(id);
  }
  for (const { id, kind } of jobs)
    if (kind === 'transacts' && completed.has(id) && !seen.has(id))
      found.push(`job ${id} completed without its effect`);
  return found;
}
