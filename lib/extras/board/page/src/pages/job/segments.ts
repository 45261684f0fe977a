import type { Job } from '../../answers.js';
import type { Step } from './steps.js';

/** A part of the life of a job. */
export interface Segment {
  /** `wait` before the first run, `rest` between two. `step`: a sleep or a wait for a signal, of which the end is known. */
  readonly kind: 'wait' | 'run' | 'rest' | 'step';
  readonly fromMs: number;
  readonly toMs: number;
  readonly attempt?: number;
  readonly result?: 'completed' | 'failed' | 'active';
  /** The worker of a failed run. */
  readonly worker?: string | null;
  /** The step that sleeps or waits for a signal. */
  readonly step?: Step;
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
export function segmentsOf(job: Job, steps: readonly Step[], nowMs: number): Segment[] {
  const parts: Segment[] = [];
  const lastMs = job.finishedAt === null ? Infinity : Date.parse(job.finishedAt) - 1_000;
  const stops = stopsOf(job, steps);
  let endMs = Date.parse(job.createdAt);
  const waitUntil = (toMs: number) => {
    for (const { step, atMs } of stops) {
      if (atMs <= endMs || atMs > toMs) continue;
      parts.push({ kind: 'step', fromMs: endMs, toMs: atMs, step });
      endMs = atMs;
    }
    if (toMs > endMs) parts.push({ kind: parts.length === 0 ? 'wait' : 'rest', fromMs: endMs, toMs });
  };
  for (const run of runsOf(job, nowMs)) {
    waitUntil(run.fromMs);
    parts.push(run);
    endMs = run.toMs;
  }
  if (['waiting', 'scheduled', 'blocked'].includes(job.state))
    waitUntil(Math.max(nowMs, job.runAt === null ? 0 : Date.parse(job.runAt)));
  else if (job.finishedAt !== null) waitUntil(lastMs);
  return parts;
}

/** The sleeps and the waits for signals by their ends. */
function stopsOf(job: Job, steps: readonly Step[]): { step: Step; atMs: number }[] {
  const finishedMs = job.finishedAt === null ? Infinity : Date.parse(job.finishedAt);
  const stops = steps.filter(({ until }) => until !== null);
  // The end of a wait that a signal has ended is stored only as the time at which the job became due again.
  const signalled = stops.filter((step) => step.state === 'done' && step.signalKey !== null);
  const dueMs = job.dueAt !== null && signalled.length === 1 ? Date.parse(job.dueAt) : undefined;
  return stops
    .flatMap((step) => {
      const atMs = step === signalled[0] ? dueMs : signalled.includes(step) ? undefined : Date.parse(step.until!);
      return atMs === undefined ? [] : [{ step, atMs: atMs > finishedMs ? finishedMs - 1_000 : atMs }];
    })
    .sort((a, b) => a.atMs - b.atMs);
}
