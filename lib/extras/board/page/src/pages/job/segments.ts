import type { Job } from '../../answers.js';

/** A part of the life of a job. */
export interface Segment {
  /** `wait` before the first run, `rest` between two. */
  readonly kind: 'wait' | 'run' | 'rest';
  readonly fromMs: number;
  readonly toMs: number;
  readonly attempt?: number;
  readonly result?: 'completed' | 'failed' | 'active';
  /** The worker of a failed run. */
  readonly worker?: string | null;
}

type Run = Segment & { readonly kind: 'run'; readonly attempt: number };

/** The runs that the job has had, oldest first. Of a run of an earlier release the server knows the end only. */
export function runsOf(job: Job, nowMs: number): Run[] {
  const startedMs = job.startedAt === null ? undefined : Date.parse(job.startedAt);
  const failed = job.errors.map(({ attempt, at, startedAt, worker }, index): Run => {
    const toMs = Date.parse(at);
    const isLast = index === job.errors.length - 1 && startedMs !== undefined && startedMs <= toMs;
    const earliest = Date.parse(job.errors[index - 1]?.at ?? job.createdAt);
    const began = startedAt === null ? (isLast ? startedMs : toMs) : Date.parse(startedAt);
    const fromMs = Math.min(toMs, Math.max(began, earliest));
    return { kind: 'run', attempt, fromMs, toMs, result: 'failed', worker };
  });
  const isOpen = job.state === 'active' || job.state === 'completed';
  const endMs = job.finishedAt === null ? nowMs : Date.parse(job.finishedAt);
  const result = job.state === 'completed' ? 'completed' : 'active';
  const last: Run[] =
    isOpen && startedMs !== undefined
      ? [{ kind: 'run', attempt: job.attempt, fromMs: startedMs, toMs: Math.max(startedMs, endMs), result }]
      : [];
  return [...failed, ...last];
}

/** The life of the job without gaps. */
export function segmentsOf(job: Job, nowMs: number): Segment[] {
  const parts: Segment[] = [];
  let endMs = Date.parse(job.createdAt);
  const waitUntil = (toMs: number) => {
    if (toMs > endMs) parts.push({ kind: parts.length === 0 ? 'wait' : 'rest', fromMs: endMs, toMs });
  };
  for (const run of runsOf(job, nowMs)) {
    waitUntil(run.fromMs);
    parts.push(run);
    endMs = run.toMs;
  }
  if (['waiting', 'scheduled', 'blocked'].includes(job.state))
    waitUntil(Math.max(nowMs, job.runAt === null ? 0 : Date.parse(job.runAt)));
  else if (job.finishedAt !== null) waitUntil(Date.parse(job.finishedAt) - 1_000);
  return parts;
}
