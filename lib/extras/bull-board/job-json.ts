import type { QueueJobJson } from '@bull-board/api/typings/app';
import { cutAt, type RedactContext, type Redactor } from '../dashboard/redactor.js';
import { contextOf, shownError, shownStack } from '../dashboard/shown-error.js';
import type { AttemptError } from '../../job/stored-error.js';
import type { JobRecord } from '../../job/job.js';

const MAX_SHOWN_BYTES = 16_384;

/** A job as bull-board shows it, without secrets. */
export function jobJson(job: JobRecord, redactor: Redactor): QueueJobJson {
  const { id, name, attempt, maxAttempts, createdAt, startedAt, finishedAt, runAt, worker, priority, key } = job;
  return {
    ...{ id: String(id), name, priority, attemptsMade: attempt },
    timestamp: createdAt.getTime(),
    delay: runAt ? Math.max(0, runAt.getTime() - createdAt.getTime()) : 0,
    ...(startedAt && { processedOn: startedAt.getTime() }),
    ...(finishedAt && { finishedOn: finishedAt.getTime() }),
    ...(worker !== null && { processedBy: worker }),
    ...(key !== null && { deduplicationId: key }),
    progress: progressOf(job, redactor),
    failedReason: reasonOf(job, redactor),
    stacktrace: tracesOf(job, redactor),
    data: shown(job, 'payload', job.payload, redactor).value,
    returnvalue: shown(job, 'result', job.result, redactor).value,
    opts: {
      ...{ attempts: maxAttempts, priority },
      headers: shown(job, 'headers', job.headers, redactor).value,
      ...(key !== null && { key }),
      ...(job.group !== null && { group: { id: job.group } }),
      ...(job.owner !== null && { owner: job.owner }),
    },
  };
}

/** The redacted value, or the beginning of its text if it is larger than 16 kB. */
export function shown(job: JobRecord, what: RedactContext['what'], value: unknown, redactor: Redactor) {
  const redacted: unknown = redactor.redact(value, contextOf(job, what));
  const text = JSON.stringify(redacted) ?? 'null';
  if (Buffer.byteLength(text) <= MAX_SHOWN_BYTES) return { value: redacted, isCut: false };
  return { value: `${cutAt(text, MAX_SHOWN_BYTES)}… (only the first 16 kB)`, isCut: true };
}

function progressOf(job: JobRecord, redactor: Redactor): QueueJobJson['progress'] {
  if (job.progress === null || job.progress === undefined) return 0;
  const { value } = shown(job, 'progress', job.progress, redactor);
  // bull-board accepts no list and no null.
  return typeof value !== 'object'
    ? (value as string)
    : value === null || Array.isArray(value)
      ? JSON.stringify(value)
      : value;
}

function reasonOf(job: JobRecord, redactor: Redactor): string {
  if (job.state === 'cancelled') return 'The job was cancelled.';
  return job.error ? textOf(shownError(job.error, job, redactor)) : '';
}

/** The errors of all attempts, oldest first, and the stack of the last one. */
function tracesOf(job: JobRecord, redactor: Redactor): string[] {
  const last = job.error && shownStack(job.error, job, redactor);
  const traces = job.errors.map((error) => attemptText(error, job, redactor));
  return last ? [...traces, last] : traces;
}

function attemptText({ attempt, at, ...error }: AttemptError, job: JobRecord, redactor: Redactor): string {
  return `Attempt ${attempt}, ${at.toISOString()}: ${textOf(shownError(error, job, redactor, 2_000))}`;
}

function textOf({ name, message, code }: { name: string; message: string; code?: string }): string {
  return `${name}: ${message}${code === undefined ? '' : ` (${code})`}`;
}
