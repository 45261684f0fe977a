import type { EventJob } from '../../core/event-outbox.js';
import type { Change } from '../audit/audit-store.js';

/** A part of the jobs of a subject. */
export interface ErasedBatch {
  /** The jobs that were not finished, and that no claim had. They are cancelled. */
  readonly cancelled: readonly EventJob[];
  /** Ids of the jobs without content now, the cancelled ones included. */
  readonly erased: readonly number[];
  /** The queues of the erased jobs. */
  readonly queues: readonly string[];
  /** References to blobs that the caller may not leave. Their jobs keep their content. */
  readonly blobs: readonly string[];
  /** Ids of the jobs that a claim has. They keep their content. */
  readonly active: readonly number[];
  /** The last id of the batch; undefined: there are no more jobs. */
  readonly next: number | undefined;
}

/** Which jobs are about which subjects. */
export interface SubjectStore {
  /** Counts the jobs of the subject, up to `limit`. */
  count(subject: string, limit: number): Promise<number>;

  /**
   * Erases the content of at most `limit` jobs of the subject with greater ids, wherever it is stored, in one transaction.
   *
   * @param mayForget whether the reference to a blob may be erased: if its blob is deleted, or need not be
   */
  erase(
    subject: string,
    after: number,
    limit: number,
    retentionMs: (queue: string) => number | false,
    mayForget: (blob: string) => boolean,
    change?: Change,
  ): Promise<ErasedBatch>;

  /** Deletes the signals whose key is the subject. */
  eraseSignals(subject: string, change?: Change): Promise<void>;

  /** Deletes the rows of jobs that are gone. Examines at most `limit` rows and returns that number. */
  prune(limit: number): Promise<number>;
}
