import { isEnvelope } from './codec/payload-codec.js';
import { isOptions } from './expectation.js';
import type { ClaimedJob, NewJob } from './job.js';
import type { StoredError } from './stored-error.js';

const ORIGIN_PREFIX = 'dead-letter.';

// Characters. All origin headers together take about 1 KiB.
const MAX_ERROR_LENGTH = 500;

/** A dead letter that dies has none. Otherwise processes with different options could copy jobs in a circle forever. */
export function deadLetterOf(job: ClaimedJob, error: StoredError, queue: string): NewJob | undefined {
  const headers = headersOf(job.headers);
  if (Object.keys(headers).some(isOriginHeader)) return undefined;
  const origin = {
    [`${ORIGIN_PREFIX}queue`]: job.queue,
    [`${ORIGIN_PREFIX}id`]: String(job.id),
    [`${ORIGIN_PREFIX}attempts`]: String(job.attempt),
    // Headers are not encoded, so the header of an encoded error has only its name.
    [`${ORIGIN_PREFIX}error`]: isEnvelope(error.message)
      ? error.name
      : `${error.name}: ${error.message}`.slice(0, MAX_ERROR_LENGTH),
  };
  const subject = job.overrides?.subject;
  return {
    ...{ queue, name: job.name, payload: job.payload, priority: job.priority },
    ...{ delayMs: null, runAtMs: null, maxAttempts: null },
    ...(subject === undefined ? { overrides: null } : { overrides: JSON.stringify({ subject }), subject }),
    headers: JSON.stringify({ ...headers, ...origin }),
  };
}

export function withoutOriginHeaders(encoded: string | null): string | null {
  const own = Object.entries(headersOf(encoded)).filter(([name]) => !isOriginHeader(name));
  return own.length === 0 ? null : JSON.stringify(Object.fromEntries(own));
}

function isOriginHeader(name: string): boolean {
  return name.startsWith(ORIGIN_PREFIX);
}

/** Other programs may have stored any text. */
function headersOf(encoded: string | null): Record<string, unknown> {
  try {
    const headers: unknown = JSON.parse(encoded ?? 'null');
    return isOptions(headers) ? (headers as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
