import type { JournalEntry } from '../journal.js';

/** The final state of a job, in the history or not. */
export interface TokenJob {
  readonly id: number;
  readonly token: string;
  readonly kind: string;
  readonly state: string;
}

export interface FinalState {
  readonly jobs: readonly TokenJob[];
  /** The orders that producers wrote in the transactions of their jobs. */
  readonly orders: ReadonlySet<string>;
  /** The ids of jobs, one for each row that a handler wrote in the transaction of its job. */
  readonly effects: readonly number[];
}

/** Returns every job that contradicts the acknowledgement of its producer. Empty if there is none. */
export function findTokenViolations(entries: readonly JournalEntry[], { jobs, orders, effects }: FinalState): string[] {
  const found: string[] = [];
  const byToken = new Map<string, TokenJob[]>();
  for (const job of jobs) byToken.set(job.token, [...(byToken.get(job.token) ?? []), job]);
  for (const [token, same] of byToken) if (same.length > 1) found.push(`token ${token} is in ${same.length} jobs`);

  const tried = new Set<string>();
  const replacedBy = new Map(entries.flatMap(({ replaces, token }) => (replaces && token ? [[replaces, token]] : [])));
  for (const { kind, token, job } of entries) {
    if (token === undefined) continue;
    const idsOf = (one = '') => (byToken.get(one) ?? []).map(({ id }) => id);
    const ids = idsOf(token);
    if (kind === 'tried') tried.add(token);
    if (kind === 'enqueued' && ![...ids, ...idsOf(replacedBy.get(token))].includes(job))
      found.push(`job ${job} of token ${token} was acknowledged and lost`);
    if (kind === 'refused' && ids.length > 0) found.push(`job ${ids[0]} of token ${token} was refused and is there`);
  }
  for (const token of byToken.keys()) if (!tried.has(token)) found.push(`token ${token} came from nowhere`);
  for (const token of orders) if (!byToken.has(token)) found.push(`order ${token} committed without its job`);

  const completed = new Set(jobs.filter(({ state }) => state === 'completed').map(({ id }) => id));
  const effective = new Set<number>();
  for (const id of effects) {
    if (effective.has(id)) found.push(`job ${id} had its effect twice`);
    if (!completed.has(id)) found.push(`job ${id} had its effect and did not complete`);
    effective.add(id);
  }
  for (const { id, kind } of jobs)
    if (kind === 'transacts' && completed.has(id) && !effective.has(id))
      found.push(`job ${id} completed without its effect`);
  return found;
}
