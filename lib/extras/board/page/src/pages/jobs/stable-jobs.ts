import { useRef, useState } from 'preact/hooks';
import type { JobRow } from '../../answers.js';
import { hasActedSince } from '../../live/live.js';
import type { Reading } from '../../live/use-read.js';

interface StableJobs {
  readonly rows: readonly JobRow[];
  /** The jobs of the last answer that are not among the rows. */
  readonly newer: number;
  showNewer(): void;
}

/**
 * The rows of a list that stay in their places while their cells change. New jobs wait until the viewer asks for them, so
 * that no row moves under the pointer. With another key, or if an action came before its read, the list is that of the answer.
 */
export function useStableJobs(
  key: string,
  { data, turn }: Pick<Reading<{ jobs: readonly JobRow[] }>, 'data' | 'turn'>,
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
  return {
    rows,
    newer: (jobs ?? []).filter(({ id }) => !ids.has(id)).length,
    showNewer: () => {
      kept.current = { key, from: jobs, turn, rows: jobs ?? [] };
      draw((count) => count + 1);
    },
  };
}
