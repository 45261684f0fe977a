import type { JobRecord } from '../../job/job.js';
import type { StoredError } from '../../job/stored-error.js';
import { cutAt, type RedactContext, type Redactor } from './redactor.js';

type NamedJob = Pick<JobRecord, 'queue' | 'name'>;

export function shownError(error: StoredError, job: NamedJob, redactor: Redactor, maxBytes = 16_384) {
  const shown = redactor.redact(error, contextOf(job, 'error'));
  // A rule may return any value in place of the error.
  if (typeof shown !== 'object' || shown === null) return { name: error.name, message: cutAt(String(shown), maxBytes) };
  const { name, message, code } = shown;
  return { name: String(name), message: cutAt(String(message), maxBytes), ...(code !== undefined && { code }) };
}

export function shownStack(error: StoredError, job: NamedJob, redactor: Redactor): string {
  const shown = redactor.redact(error, contextOf(job, 'error'));
  return typeof shown === 'object' && shown !== null ? cutAt(String(shown.stack), 16_384) : '';
}

export function contextOf({ queue, name }: NamedJob, what: RedactContext['what']): RedactContext {
  return { queue, name, what };
}
