import type { CallerTransaction } from '../../core/caller-transaction.js';
import type { PageRequest, PagePosition } from '../../../job/page-options.js';

/** A change of an administrator, as the store writes it. */
export interface AuditEntry {
  /** A random number. Each transaction of the same call replaces the entry. */
  readonly id: number;
  readonly verb: AuditVerb;
  /** The queue that the call names. Undefined: that of the changed jobs, if it is one. */
  readonly queue: string | undefined;
  readonly by: string | null;
  /** JSON: the selection and the options of the call. */
  readonly details: string;
  /** The number of things that earlier transactions of the call have changed. */
  readonly count: number;
  /** The queues of the jobs that earlier transactions of the call have changed. */
  readonly queues: ReadonlySet<string>;
}

/** Null: the call names no queue, and it has changed no job, or jobs of several queues. */
export function queueOfEntry({ queue, queues }: Pick<AuditEntry, 'queue' | 'queues'>): string | null {
  const [first = null] = queues.size === 1 ? queues : [];
  return queue ?? first;
}

/** The surroundings of a change of an administrator. */
export interface Change {
  /** Written in the transaction of the change, if that changes anything. Undefined: no entry. */
  readonly audit?: AuditEntry | undefined;
  /** The open transaction of the caller. Undefined: the change has a transaction of its own. */
  readonly transaction?: CallerTransaction | undefined;
  /**
   * Called before the commit, and again if the transaction is repeated.
   *
   * @param count the number of things that the transaction has changed
   * @param queues those of the changed jobs, also of earlier transactions of the call
   */
  readonly onChange?: ((count: number, queues: ReadonlySet<string>) => void) | undefined;
}

export const AUDIT_VERBS = [
  'cancel',
  'retry',
  'promote',
  'release',
  'reschedule',
  'reprioritise',
  'update',
  'duplicate',
  'enqueue',
  'remove',
  'erase',
  'cancelFlow',
  'retryFlow',
  'pause',
  'resume',
  'limit',
  'configure',
  'obliterate',
  'signal',
  'subscribe',
  'unsubscribe',
  'group.pause',
  'group.resume',
  'group.limit',
  'group.rest',
  'schedule.upsert',
  'schedule.remove',
  'schedule.pause',
  'schedule.resume',
  'schedule.runNow',
] as const;

/** A verb of QueueAdmin, or of a QueueGroup or QueueSchedules with its prefix. */
export type AuditVerb = (typeof AUDIT_VERBS)[number];

/** A change that an administrator has made. */
export interface AuditRecord {
  id: number;
  verb: AuditVerb;
  /**
   * The selection as the caller gave it: an id, a list of ids, a filter, or the name of a queue, a schedule … Null for
   * `erase`, because an entry must not name its subject.
   */
  which: unknown;
  /** The options of the call, without payloads and headers; undefined: none. */
  options?: unknown;
  /** The queue of the change; null: none, or several. */
  queue: string | null;
  /** The administrator of `QueueAdmin.as`; null: not given. */
  by: string | null;
  /** The number of changed jobs, queues or other things. */
  count: number;
  /** The time of the last change of the call. */
  at: Date;
}

/** Selects entries that meet all given conditions. */
export interface AuditFilter {
  by?: string;
  verb?: AuditVerb;
  queue?: string;
}

/** Keeps the changes of administrators. The stores of the verbs write them, in the transactions of the changes. */
export interface AuditStore {
  list(
    filter: AuditFilter,
    page: PageRequest,
  ): Promise<{ readonly entries: AuditRecord[]; readonly next?: PagePosition }>;
  /** Deletes at most `limit` entries that are older. Returns their number. */
  prune(olderThanMs: number, limit: number): Promise<number>;
}
