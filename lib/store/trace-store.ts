/** What a run said of itself since it was last written. */
export interface Trace {
  readonly jobId: number;
  /** The run's claim: nothing is written where that does not hold any more. */
  readonly claimId: number;
  /** Encoded; undefined where only lines were logged. */
  readonly value: string | undefined;
  readonly lines: readonly { readonly text: string; /** How long ago, in milliseconds. */ readonly agoMs: number }[];
}

/** Where it is kept what runs say of themselves, as long as anything is kept of their jobs. */
export interface TraceStore {
  /** Writes what runs said whose leases hold. Of a job's lines the first thousand are kept. */
  trace(traces: readonly Trace[]): Promise<void>;

  /** The last progress of these jobs, encoded; without those that never told any. */
  progressOf(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;

  /** Deletes what these jobs' runs said. */
  untrace(ids: readonly number[]): Promise<void>;

  /** Deletes what was said of jobs of which nothing is kept any more, looking at `limit`; answers at how many it looked. */
  pruneTraces(limit: number): Promise<number>;
}
