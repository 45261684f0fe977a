import type { BulkOptions, ResolvedBulk } from '../job/bulk-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected } from '../job/expectation.js';
import { managerOf } from '../job/option-schema.js';
import type { ReplayOptions } from '../job/replay-options.js';
import type { CallerTransaction } from '../store/verbs/job-store.js';
import type { AdminParts } from './admin-parts.js';
import { ADMIN_BATCH_SIZE, isJobIds, type JobSelection } from './job-selection.js';

/** The transaction of a change by QueueAdmin. */
export interface ChangeOptions {
  /**
   * The entity manager or query runner of your open transaction. The change exists only if that transaction commits, and
   * its events and notifications follow the commit. Until then other transactions wait for the changed rows. Use
   * READ COMMITTED on MySQL and MariaDB. Default: a transaction of the library. Rejects with InvalidOptionsError if no
   * transaction is open.
   */
  manager?: CallerTransaction;
}

/** Options of a change of several jobs. In your transaction it changes at most 500: a list of ids, or a `limit`. */
export interface JobChangeOptions extends BulkOptions, ChangeOptions {}

/** Options of a retry. See JobChangeOptions. */
export interface JobReplayOptions extends ReplayOptions, ChangeOptions {
  /** Allows a queue of `to` that does not exist yet. Without it the call rejects with QueueNotFoundError. Default false. */
  create?: boolean;
}

/** Options of a verb that takes no transaction of the caller, because workers would wait for its locks. */
export interface OwnTransaction {
  /** Rejected with InvalidOptionsError. Call the verb after your commit. */
  manager?: never;
}

/** Throws if a caller without TypeScript passes a manager, which would otherwise have no effect. */
export function refuseManager(where: string, given: object | undefined, reason: string): void {
  const { manager } = (given ?? {}) as { manager?: unknown };
  InvalidOptionsError.throwIfAny(where, [
    manager === undefined
      ? undefined
      : `expected no manager, because ${reason}, got one. Leave it out, and call the verb after your commit`,
  ]);
}

/** The parts for a verb without options of its own. */
export function partsFor(parts: AdminParts, where: string, given: ChangeOptions): AdminParts {
  return within(parts, managerOf(where, given));
}

/** The parts for a change in the caller's transaction, if there is one: all effects follow its commit. */
export function within(parts: AdminParts, transaction: CallerTransaction | undefined): AdminParts {
  if (!transaction) return parts;
  const { audit, events, followEnds, recheckFlows, groups, notifier, jobs } = parts;
  const afterCommit = (act: () => void) => jobs.afterCommit(transaction, act);
  return {
    ...parts,
    transaction,
    audit: audit.within(transaction),
    events: {
      hasListener: (event) => events.hasListener(event),
      emitChanges: (event, changed) => afterCommit(() => events.emitChanges(event, changed)),
    },
    followEnds: async (...ends) => afterCommit(() => void followEnds(...ends)),
    recheckFlows: async (ids) => afterCommit(() => void recheckFlows(ids)),
    notifier: {
      wake: (queue) => afterCommit(() => notifier.wake(queue)),
      poll: () => afterCommit(() => notifier.poll()),
      cancel: (jobId, workerId) => afterCommit(() => notifier.cancel(jobId, workerId)),
      readCancelRequests: (workerId) => afterCommit(() => notifier.readCancelRequests(workerId)),
    },
    groups: {
      ...groups,
      wake: async (queue, group) => afterCommit(() => void groups.wake(queue, group).then(() => notifier.wake(queue))),
    },
  };
}

/**
 * The parts for a change of selected jobs. Throws if a selection in the caller's transaction may have more jobs than one
 * batch, because that transaction keeps all their locks.
 */
export function partsForJobs(
  parts: AdminParts,
  where: string,
  which: JobSelection,
  { limit }: ResolvedBulk,
  manager: CallerTransaction | undefined,
): AdminParts {
  if (!manager) return parts;
  const ids = isJobIds(which) ? [which].flat().length : undefined;
  const wayOut = ids === undefined ? `pass ids, or a limit of up to ${ADMIN_BATCH_SIZE}` : 'pass fewer ids';
  InvalidOptionsError.throwIfAny(where, [
    expected(
      (ids ?? limit) <= ADMIN_BATCH_SIZE,
      `at most ${ADMIN_BATCH_SIZE} jobs in your transaction (${wayOut}, or leave manager out)`,
      ids ?? (limit === Number.MAX_SAFE_INTEGER ? 'no limit' : limit),
    ),
  ]);
  return within(parts, manager);
}
