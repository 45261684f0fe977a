import { systemClock } from '../../common/clock.js';
import type { NewJob } from '../../job/job.js';
import type { KeyOwnerJob } from '../../job/job-key.js';
import { resolveQueueOptions } from '../../job/queue-options.js';
import type { ProducerParts } from '../../producer/producer-parts.js';
import { requireOpenTransaction, type CallerTransaction } from '../../store/core/caller-transaction.js';
import { driveSync } from '../../store/core/statement.js';
import { KeyPlan } from '../../store/features/keys/key-plan.js';
import { keyIdOf, keysOf, type KeyRow } from '../../store/features/keys/key-rows.js';
import type { KeyedCallResult } from '../../store/features/keys/key-store.js';
import type { Subscriber } from '../../store/features/queues/queue-store.js';

type Store = ProducerParts['store'];

/** The parts of a producer without a database. It has no workers, no waiting jobs and no listeners. */
export function memoryParts(
  tracker: ProducerParts['tracker'],
  enqueue: (jobs: readonly NewJob[]) => Promise<number[]>,
  enqueueKeyed: Store['enqueueKeyed'],
  subscribers: (topic: string) => Subscriber[] = () => [],
): ProducerParts {
  // A test double knows no options of queues, so it accepts all options of jobs.
  const options = resolveQueueOptions({ groups: { concurrency: 1 } });
  return {
    store: {
      enqueue: async (jobs, manager) => checkManager(manager) ?? enqueue(jobs),
      // The job is stored at once, so the statement of the test does nothing.
      enqueueStatement: async (job) => {
        await enqueue([job]);
        return { text: 'SELECT 1', values: [] };
      },
      enqueueKeyed,
      enqueueKeyedInTransaction: async (_jobs, manager) => checkManager(manager),
      afterCommit: (_transaction, act) => act(),
      countWaiting: () => Promise.resolve(0),
    },
    queueStore: {
      subscribers: async (topic, manager) => checkManager(manager) ?? subscribers(topic),
    },
    steps: {
      signal: async (_signal, change) => checkManager(change?.transaction),
      wakeWaiting: () => Promise.resolve([]),
    },
    flows: {
      create: async ({ jobs }, manager) => {
        checkManager(manager);
        return { id: 1, jobIds: await enqueue(jobs) };
      },
    },
    optionsFor: () => options,
    clock: systemClock,
    notifier: {
      serves: () => true,
      prepare: () => undefined,
      wake: () => undefined,
      expectDue: () => undefined,
      expectAt: () => undefined,
    },
    tracker,
    events: { hasAnyListener: false, emitChanges: () => undefined },
  };
}

function checkManager(manager: CallerTransaction | undefined): undefined {
  if (manager) requireOpenTransaction(manager);
}

function sendNothing(): never {
  throw new Error('A plan sends no statement.');
}

const UNTIMED = { hasTime: false, keptUntilMs: 0, remainingRetentionMs: 0 };

/** The owners of keys, in memory. The rules are those of the database. */
export class MemoryKeys {
  readonly #rows = new Map<string, { row: KeyRow; until: number }>();

  plan(calls: readonly (readonly NewJob[])[]): { plan: KeyPlan; answers: (() => KeyedCallResult)[] } {
    const now = systemClock.monotonic();
    const rows = keysOf(calls.flat()).map((key) => {
      const free: KeyRow = { ...UNTIMED, key, jobId: 0, jobName: null, until: 'finished', job: undefined };
      const { row, until } = this.#rows.get(keyIdOf(key)) ?? { row: free, until: 0 };
      return [keyIdOf(key), { ...row, hasTime: until > now }] as const;
    });
    const plan = new KeyPlan(new Map(rows));
    return { plan, answers: calls.map((call) => driveSync(plan.addCall(call), sendNothing)) };
  }

  /** The owners keep the state of `job` until `removeJob`. */
  setOwners(plan: KeyPlan, job: KeyOwnerJob): void {
    for (const { queue, name, key, jobId } of plan.acquisitions) {
      const row = { ...UNTIMED, key: { queue, hash: key.hash }, jobId, jobName: name, until: key.until, job };
      this.#rows.set(keyIdOf(row.key), { row, until: systemClock.monotonic() + (key.durationMs ?? 0) });
    }
  }

  removeJob(jobId: number): void {
    for (const [id, { row, until }] of this.#rows)
      if (row.jobId === jobId) this.#rows.set(id, { row: { ...row, job: undefined }, until });
  }

  clear(): void {
    this.#rows.clear();
  }
}
