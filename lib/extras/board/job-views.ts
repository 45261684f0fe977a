import type { JobRecord } from '../../job/job.js';
import { traceIdOf } from '../../job/trace-id.js';
import type { AssignedJobRecord } from '../../store/features/people/consumer-store.js';
import type { RedactContext, Redactor, ShownValue } from '../dashboard/redactor.js';
import { contextOf, shownError, shownStack } from '../dashboard/shown-error.js';

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
    // It comes from a header, which only viewers of payloads may read.
    traceId: isHidden ? null : traceIdOf(headers),
    result: show('result', result),
    progress: show('progress', progress),
    error: error && {
      ...shownError(error, job, redactor),
      ...(!isHidden && error.stack !== undefined && { stack: shownStack(error, job, redactor) }),
    },
    errors: errors.map(({ attempt, at, startedAt, worker, ...one }) => ({
      ...{ attempt, at, startedAt: startedAt ?? null, worker: worker ?? null },
      ...shownError(one, job, redactor),
    })),
  };
}
