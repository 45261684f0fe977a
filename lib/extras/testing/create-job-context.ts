import type { EntityManager } from 'typeorm';
import { sharedAbortController } from '../../common/abort.js';
import { DEFAULT_JOB_NAME } from '../../job/identifiers.js';
import type { HandlerActions } from '../../worker/run/handler-actions.js';
import { JobContext, type JobContextFields } from '../../worker/run/job-context.js';

const SILENT = {
  log: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
};

/**
 * Creates a JobContext to call a handler in a test. Its `transaction()` runs the work with `overrides.manager` and begins
 * no transaction.
 */
export function createJobContext<P>(
  payload: P,
  {
    manager,
    ...overrides
  }: Partial<Omit<JobContextFields<P>, 'payload'> & HandlerActions> & { manager?: EntityManager } = {},
): JobContext<P> {
  const all: JobContextFields<P> & HandlerActions = {
    id: 1,
    queue: 'test',
    name: DEFAULT_JOB_NAME,
    payload,
    attempt: 1,
    maxAttempts: 5,
    createdAt: new Date(0),
    startedAt: new Date(0),
    headers: {},
    schedule: undefined,
    group: null,
    signal: sharedAbortController().signal,
    logger: SILENT,
    calls: { start: (_, act) => act() },
    transaction: (work) => work(manager as EntityManager),
    handOff: () => Promise.resolve({ id: overrides.id ?? 1, token: '1' }),
    decide: () => undefined,
    stepKey: (name) => `${all.queue}:${all.id}:${name}`,
    progress: () => undefined,
    steps: {
      run: async (_, work) => work(),
      runInTransaction: (_, work) => work(manager as EntityManager),
      sleep: () => Promise.resolve(undefined),
      waitForSignal: () => Promise.resolve({ state: 'timed-out' }),
    },
    children: {
      read: async function* () {},
      fanOut: () => Promise.resolve(false),
    },
    log: () => undefined,
    ...overrides,
  };
  return new JobContext<P>(all, all);
}
