import { inRootContext } from '../common/async-context.js';
import type { Clock } from '../common/clock.js';
import type { JobLogger } from '../common/logger.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected } from '../job/expectation.js';
import { randomId } from '../job/identifiers.js';
import { storedError } from '../job/stored-error.js';
import {
  queueOfEntry,
  type AuditEntry,
  type AuditRecord,
  type AuditVerb,
  type Change,
} from '../store/features/audit/audit-store.js';
import type { CallerTransaction, JobStore } from '../store/verbs/job-store.js';

/** Receives each change of an administrator in this process. */
export type AuditHook = (entry: AuditRecord) => unknown;

/** The call of a verb. */
export interface AuditedCall {
  readonly verb: AuditVerb;
  readonly which: unknown;
  /** Without payloads and headers. */
  readonly options?: unknown;
  /** Undefined: the queue of the changed jobs, if it is one. */
  readonly queue?: string | undefined;
}

export interface AuditParts {
  readonly hook: AuditHook | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly jobs: Pick<JobStore, 'afterCommit'>;
  readonly logger: Pick<JobLogger, 'error'>;
}

const MAX_AUTHOR_LENGTH = 255;
// A longer list of ids is cut: the number of changed jobs stands in `count`.
const MAX_IDS = 1_000;

/** Gives each change of an administrator its entry in the audit, and calls the hook of the module. */
export class AuditTrail {
  /** @param parts undefined: changes have no entries */
  constructor(
    private readonly parts: AuditParts | undefined,
    private readonly author: string | null = null,
    private readonly transaction?: CallerTransaction,
  ) {}

  /** The trail of one administrator. */
  as(author: string): AuditTrail {
    InvalidOptionsError.throwIfAny('Cannot name the administrator', [
      expected(
        typeof author === 'string' && author.trim() !== '' && author.length <= MAX_AUTHOR_LENGTH,
        `the administrator to be a text of 1 to ${MAX_AUTHOR_LENGTH} characters`,
        author,
      ),
    ]);
    return new AuditTrail(this.parts, author, this.transaction);
  }

  /** The trail of changes in the caller's open transaction, if there is one. */
  within(transaction: CallerTransaction | undefined): AuditTrail {
    return transaction ? new AuditTrail(this.parts, this.author, transaction) : this;
  }

  /** Runs a verb, and calls the hook after its last commit, unless it has changed nothing. */
  async record<T>(call: AuditedCall, act: (changes: RecordedChanges) => Promise<T>): Promise<T> {
    const { parts, transaction } = this;
    const changes = new RecordedChanges(parts && entryOf(call, this.author), transaction);
    try {
      return await act(changes);
    } finally {
      // A verb that has failed may have changed jobs before.
      if (changes.count > 0) parts?.jobs.afterCommit(transaction, () => void this.#callHook(call, changes));
    }
  }

  /** Runs a verb of one transaction. */
  change<T>(call: AuditedCall, act: (change: Change) => Promise<T>): Promise<T> {
    return this.record(call, (changes) => changes.run(act));
  }

  async #callHook(call: AuditedCall, changes: RecordedChanges): Promise<void> {
    if (!this.parts?.hook) return;
    const { hook, clock, logger } = this.parts;
    const { verb, which, options } = call;
    const { id, count, queue } = changes;
    const more = options === undefined ? {} : { options };
    try {
      const record = { id, verb, which: shortened(which), ...more, queue, by: this.author, count, at: clock.now() };
      await inRootContext(() => hook(record));
    } catch (error) {
      const { name, message, stack } = storedError(error);
      logger.error(`The function \`audit\` failed for "${verb}": ${name}: ${message}`, stack);
    }
  }
}

/** The part of an entry that is known before the first transaction of the call. */
type CallEntry = Omit<AuditEntry, 'count' | 'queues'>;

/** The changes of one call of a verb. */
export class RecordedChanges {
  #count = 0;
  #queues: ReadonlySet<string> = new Set();

  constructor(
    private readonly entry: CallEntry | undefined,
    private readonly transaction: CallerTransaction | undefined,
  ) {}

  /** Runs one transaction of the call. Its changes count after its commit. */
  async run<T>(act: (change: Change) => Promise<T>): Promise<T> {
    const { entry, transaction } = this;
    let [added, queues] = [0, this.#queues];
    const value = await act({
      transaction,
      audit: entry && { ...entry, count: this.#count, queues },
      onChange: (...change) => void ([added, queues] = change),
    });
    this.#count += added;
    this.#queues = queues;
    return value;
  }

  get id(): number {
    return this.entry?.id ?? 0;
  }

  get queue(): string | null {
    return queueOfEntry({ queue: this.entry?.queue, queues: this.#queues });
  }

  get count(): number {
    return this.#count;
  }
}

// Random, so that processes do not meet, and increasing, so that changes of one millisecond stay in their order.
let lastId = Math.floor(randomId() / 2);

function entryOf({ verb, which, options, queue }: AuditedCall, by: string | null): CallEntry {
  return {
    id: ++lastId,
    verb,
    queue,
    by,
    details: JSON.stringify({ which: shortened(which), options }),
  };
}

function shortened(which: unknown): unknown {
  return Array.isArray(which) ? which.slice(0, MAX_IDS) : which;
}
