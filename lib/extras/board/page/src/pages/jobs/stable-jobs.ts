import { useRef, useState } from 'preact/hooks';
import { read } from '../../api.js';
import type { JobRow } from '../../answers.js';
import { hasActedSince } from '../../live/live.js';
import { useRead, type Reading } from '../../live/use-read.js';
import type { ListedJob } from '../../parts/jobs-table.js';

interface StableJobs {
  readonly rows: readonly ListedJob[];
  /** The jobs of the last answer that are not among the rows. */
  readonly others: number;
  /** Whether all of these were enqueued after the rows. Others have moved up from the next page, or returned to the filter. */
  readonly areNewer: boolean;
  /** The rows that are no longer in the state of the filter. */
  readonly left: number;
  showNewer(): void;
}

/**
 * The rows of a list that stay in their places while their cells change. New jobs wait until the viewer asks for them, so
 * that no row moves under the pointer. With another key, or if an action came before its read, the list is that of the answer.
 */
export function useStableJobs(
  key: string,
  { data, turn }: Pick<Reading<{ jobs: readonly JobRow[] }>, 'data' | 'turn'>,
  listState: string | undefined,
): StableJobs {
  const jobs = data?.jobs;
  const [, draw] = useState(0);
  const kept = useRef<{ key: string; from: readonly JobRow[] | undefined; turn: number; rows: readonly JobRow[] }>({
    ...{ key, from: undefined, turn, rows: [] },
  });
  const last = kept.current;
  if (last.key !== key) kept.current = { key, from: jobs, turn, rows: jobs ?? [] };
  else if (jobs && jobs !== last.from) {
    const fresh = new Map(jobs.map((job) => [job.id, job]));
    const isNew = last.rows.length === 0 || hasActedSince(last.turn, turn);
    kept.current = { key, from: jobs, turn, rows: isNew ? jobs : last.rows.map((job) => fresh.get(job.id) ?? job) };
  }
  const { rows } = kept.current;
  const ids = new Set(rows.map(({ id }) => id));
  const others = (jobs ?? []).filter(({ id }) => !ids.has(id));
  const states = useStatesOf(key, rows, jobs);
  const current = rows.map((job) => withState(job, states.get(job.id), listState));
  return {
    rows: current,
    left: current.filter((job) => job.left).length,
    others: others.length,
    areNewer: others.every(({ id }) => rows.every((row) => id > row.id)),
    showNewer: () => {
      kept.current = { key, from: jobs, turn, rows: jobs ?? [] };
      draw((count) => count + 1);
    },
  };
}

/** The present states of the rows that the last answer lacks; null: the job is gone. */
function useStatesOf(
  key: string,
  rows: readonly JobRow[],
  jobs: readonly JobRow[] | undefined,
): ReadonlyMap<number, string | null> {
  const answered = new Set(jobs?.map(({ id }) => id));
  const missing = jobs ? rows.map(({ id }) => id).filter((id) => !answered.has(id)) : [];
  const { data } = useRead(`${key} ${missing.length > 0}`, async () => {
    if (missing.length === 0) return [];
    const { states } = await read<{ states: { id: number; state: string }[] }>('job-states', { ids: missing.join() });
    const found = new Map(states.map(({ id, state }) => [id, state]));
    return missing.map((id) => [id, found.get(id) ?? null] as const);
  });
  // Until the next answer a row keeps the state that was read last.
  const last = useRef<{ key: string; states: ReadonlyMap<number, string | null> }>({ key, states: new Map() });
  if (data) last.current = { key, states: new Map(data) };
  else if (last.current.key !== key) last.current = { key, states: new Map() };
  return new Map([...last.current.states].filter(([id]) => !answered.has(id)));
}

/** @param state undefined: that of the row is current */
function withState(job: JobRow, state: string | null | undefined, listState: string | undefined): ListedJob {
  if (state === undefined) return job;
  if (state === null) return { ...job, state: 'removed' as JobRow['state'], left: true };
  return { ...job, state: state as JobRow['state'], left: Boolean(listState) && state !== listState };
}
