import type { StoredError } from './stored-error.js';

/** The end of an attempt, after it was stored. */
export interface EndedAttempt {
  readonly queue: string;
  readonly name: string;
  readonly jobId: number;
  readonly attempt: number;
  /** `failed`: a retry follows. `dead`: none follows. */
  readonly outcome: 'completed' | 'failed' | 'dead' | 'cancelled' | 'released' | 'snoozed' | 'blocked';
  /**
   * How long the job was due before its handler was called, in milliseconds. Null if no handler of this process was called,
   * as for a job that a consumer has claimed.
   */
  readonly waitMs: number | null;
  /** How long the attempt took, in milliseconds; null if it did not start, or if its worker has crashed. */
  readonly ranMs: number | null;
  readonly error?: StoredError | undefined;
}

export const INSTRUMENTATION_METHODS = ['ended'] as const satisfies readonly (keyof QueueInstrumentation)[];

/** Observes the jobs of this process, for metrics, traces and error reports. */
export interface QueueInstrumentation {
  /** Called at the end of every attempt. It must be fast. Its errors are logged and have no effect on jobs. */
  ended?(attempt: EndedAttempt): void;
}
