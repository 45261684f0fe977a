/** The progress and the log lines of an attempt since its previous entry. */
export interface JobLogEntry {
  /** The timeout of the job: its reports are encoded within this time. Undefined or false: it has none. */
  readonly timeoutMs?: number | false | undefined;
  readonly jobId: number;
  /** The claim of the attempt. The entry is not written if that claim has ended or its lease has expired. */
  readonly claimId: number;
  /** The encoded progress; undefined if the attempt logged only lines. */
  readonly value: string | undefined;
  readonly lines: readonly { readonly text: string; /** The age in milliseconds. */ readonly agoMs: number }[];
}

/** Stores the progress and the log lines of attempts, as long as the job or its history exists. */
export interface JobLogStore {
  /**
   * Encodes the texts of an entry. A write waits for the slowest of its entries, unless they were prepared. Never rejects.
   * Returns undefined if there is nothing to wait for.
   */
  prepareJobLog?(entry: JobLogEntry): Promise<unknown> | undefined;

  /** Writes the entries of valid claims. Keeps the first 1,000 lines of a job. */
  writeJobLogs(entries: readonly JobLogEntry[]): Promise<void>;

  /** The last encoded progress of these jobs. Omits jobs without progress. */
  progressOf(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;

  deleteJobLogs(ids: readonly number[]): Promise<void>;

  /** Deletes the logs of jobs that are gone. Examines at most `limit` jobs and returns that number. */
  pruneJobLogs(limit: number): Promise<number>;
}
