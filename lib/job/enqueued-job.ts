/** The result of `enqueue`. */
export interface EnqueuedJob {
  /** The id of the stored job; for `existing`, of the job that owns the `key`. */
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  /**
   * - `created`: a new job was stored.
   * - `existing`: another job owns the `key`. It is unchanged, and `id` is its id.
   * - `replaced`: the job that owns the `key` has the new payload and options. It keeps its `id`.
   */
  readonly outcome: 'created' | 'existing' | 'replaced';
}
