import { systemClock } from '../common/clock.js';
import type { ProducerParts } from '../producer/producer-parts.js';
import { requireOpenTransaction } from '../store/core/caller-transaction.js';

/** The parts of a producer without a database. It has no workers, no waiting jobs and no listeners. */
export const MEMORY_PARTS = {
  store: {
    enqueueKeyedInTransaction: async (_jobs, manager) => {
      requireOpenTransaction(manager);
      return undefined;
    },
    afterCommit: (_transaction, act) => act(),
    countWaiting: () => Promise.resolve(0),
  },
  clock: systemClock,
  notifier: { prepare: () => undefined, wake: () => undefined, expectDue: () => undefined, expectAt: () => undefined },
  events: { emit: () => undefined },
} satisfies Pick<ProducerParts, 'clock' | 'notifier' | 'events'> & { store: Partial<ProducerParts['store']> };
