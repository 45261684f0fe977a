import type { JobRecord } from '../job/job.js';
import type { StoredError } from '../job/stored-error.js';
import type { AssignedJobRecord } from '../store/people/consumer-store.js';
import { cutAt, type RedactContext, type Redactor, type ShownValue } from './redactor.js';

/** The end of a message in a list. */
const MAX_LISTED_MESSAGE = 300;

/** A job in a list: without its payload. */
export function jobRow(job: JobRecord, redactor: Redactor) {
  const { id, queue, name, state, priority, key, group, attempt, maxAttempts } = job;
  const { createdAt, runAt, startedAt, finishedAt, worker, owner } = job;
  return {
    ...{ id, queue, name, state, priority, key, group, attempt, maxAttempts },
    ...{ createdAt, runAt, startedAt, finishedAt, worker, owner },
    error: job.error && shownError(job.error, job, redactor, MAX_LISTED_MESSAGE),
  };
}

export function assignedRow(job: AssignedJobRecord, redactor: Redactor) {
  const { stage, leaseUntil, snoozedUntil } = job;
  return { ...jobRow(job, redactor), stage, leaseUntil, snoozedUntil };
}

/** @param isHidden whether the viewer may not read payloads */
export function jobDetails(job: JobRecord, redactor: Redactor, isHidden: boolean) {
  const { payload, headers, result, progress, errors, error, dueAt, ...others } = job;
  const show = (what: RedactContext['what'], value: unknown): ShownValue | null =>
    isHidden || value === null || value === undefined ? null : redactor.show(value, contextOf(job, what));
  return {
    ...others,
    dueAt,
    isHidden,
    payload: isHidden ? null : redactor.show(payload, contextOf(job, 'payload')),
    headers: show('headers', headers),
    result: show('result', result),
    progress: show('progress', progress),
    error: error && {
      ...shownError(error, job, redactor),
      ...(!isHidden && error.stack !== undefined && { stack: stackOf(error, job, redactor) }),
    },
    errors: errors.map(({ attempt, at, ...one }) => ({ attempt, at, ...shownError(one, job, redactor) })),
  };
}

export function shownError(error: StoredError, job: JobRecord, redactor: Redactor, maxBytes = 16_384) {
  const shown = redactor.redact(error, contextOf(job, 'error'));
  // A rule may return any value in place of the error.
  if (typeof shown !== 'object' || shown === null) return { name: error.name, message: cutAt(String(shown), maxBytes) };
  const { name, message, code } = shown;
  return { name: String(name), message: cutAt(String(message), maxBytes), ...(code !== undefined && { code }) };
}

function stackOf(error: StoredError, job: JobRecord, redactor: Redactor): string {
  const shown = redactor.redact(error, contextOf(job, 'error'));
  return typeof shown === 'object' && shown !== null ? cutAt(String(shown.stack), 16_384) : '';
}

export function contextOf(
  { queue, name }: Pick<JobRecord, 'queue' | 'name'>,
  what: RedactContext['what'],
): RedactContext {
  return { queue, name, what };
}
