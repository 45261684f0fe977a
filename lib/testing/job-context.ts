import type { EntityManager } from 'typeorm';
import { JobContext, type JobContextParts } from '../runtime/job-context.js';

const SILENT = {
  log: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
};

/**
 * A JobContext for calling a handler by hand. `transaction()` runs its work with `overrides.manager`, without a database
 * transaction of its own.
 */
export function createJobContext<P>(
  payload: P,
  { manager, ...overrides }: Partial<Omit<JobContextParts<P>, 'payload'>> & { manager?: EntityManager } = {},
): JobContext<P> {
  return new JobContext<P>({
    id: 1,
    queue: 'test',
    payload,
    attempt: 1,
    maxAttempts: 5,
    enqueuedAt: new Date(0),
    startedAt: new Date(0),
    headers: {},
    signal: new AbortController().signal,
    logger: SILENT,
    transaction: (work) => work(manager as EntityManager),
    handOff: () => Promise.resolve({ id: overrides.id ?? 1, token: '1' }),
    decide: () => undefined,
    progress: () => undefined,
    log: () => undefined,
    ...overrides,
  });
}
