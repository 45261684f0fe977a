import { isOptions } from './expectation.js';
import type { ClaimedJob, NewJob } from './job.js';
import type { StoredError } from './stored-error.js';

// Of each header that says where a dead letter comes from.
const ORIGIN = 'dead-letter.';

// Characters: with the others some 1 KiB, whatever the job's own headers take.
const MAX_ERROR = 500;

/**
 * What is put into the dead-letter queue when a job dies: its payload, name, priority and headers, and in headers beside
 * them where it comes from. Nothing where the job is a dead letter itself: one that dies goes no further, so none goes
 * round for ever, whatever several processes have set.
 */
export function deadLetterOf(job: ClaimedJob, error: StoredError, queue: string): NewJob | undefined {
  const headers = headersOf(job.headers);
  if (Object.keys(headers).some(isOrigin)) return undefined;
  const origin = {
    [`${ORIGIN}queue`]: job.queue,
    [`${ORIGIN}id`]: String(job.id),
    [`${ORIGIN}attempts`]: String(job.attempt),
    [`${ORIGIN}error`]: `${error.name}: ${error.message}`.slice(0, MAX_ERROR),
  };
  return {
    ...{ queue, name: job.name, payload: job.payload, priority: job.priority },
    ...{ delayMs: null, runAtMs: null, maxAttempts: null, overrides: null },
    headers: JSON.stringify({ ...headers, ...origin }),
  };
}

/** Encoded headers as they were before the job became a dead letter. */
export function withoutOrigin(encoded: string | null): string | null {
  const own = Object.entries(headersOf(encoded)).filter(([name]) => !isOrigin(name));
  return own.length === 0 ? null : JSON.stringify(Object.fromEntries(own));
}

function isOrigin(name: string): boolean {
  return name.startsWith(ORIGIN);
}

/** What a foreign INSERT wrote there may be anything. */
function headersOf(encoded: string | null): Record<string, unknown> {
  try {
    const headers: unknown = JSON.parse(encoded ?? 'null');
    return isOptions(headers) ? (headers as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
