import { encodeHeaders } from '../job/job-content.js';
import type { ContextPropagation } from '../job/context-propagation.js';
import { headerProblems } from '../job/enqueue-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import type { JobOfRun } from '../job/instrumentation.js';
import type { NewJob } from '../job/job.js';
import { defined } from '../job/option-schema.js';

type Headers = Readonly<Record<string, string>>;

/** The jobs with the captured headers. Throws InvalidOptionsError or PayloadTooLargeError if they cannot be stored. */
export function withCapturedHeaders(jobs: readonly NewJob[], context: ContextPropagation): readonly NewJob[] {
  const given: unknown = context.capture();
  const captured = defined(given as Record<string, string>) as Headers;
  InvalidOptionsError.throwIfAny('The option context captured', headerProblems(captured));
  if (Object.keys(captured).length === 0) return jobs;
  return jobs.map((job) => {
    const own = job.headers === null ? {} : (JSON.parse(job.headers) as Headers);
    return { ...job, headers: encodeHeaders(job.queue, { ...captured, ...own }) };
  });
}

/** Calls the handler inside of the context. Throws if `run` does not call it. */
export function callInContext(context: ContextPropagation, jobs: readonly JobOfRun[], handle: () => unknown): unknown {
  let called: { readonly value: unknown } | undefined;
  context.run(commonHeaders(jobs), () => (called ??= { value: handle() }).value);
  // A job that completed without its handler would be lost.
  if (!called) throw new Error('The option context has a run() that did not call next() before it returned.');
  return called.value;
}

/** A batch may have jobs of several tenants, so that no header of one job may count for the others. */
function commonHeaders([first, ...others]: readonly JobOfRun[]): Headers {
  if (others.length === 0) return first!.headers;
  const common = Object.entries(first!.headers).filter(([name, value]) =>
    others.every(({ headers }) => headers[name] === value),
  );
  return Object.fromEntries(common);
}
