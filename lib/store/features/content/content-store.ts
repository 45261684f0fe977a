/** The number of rows that have changed, and of those that could not. */
export interface RekeyCount {
  readonly rekeyed: number;
  /** Rows of jobs that a claim has. */
  readonly active: number;
  /** Rows with content that this process cannot decode. */
  readonly undecodable: number;
}

export interface RekeyBatch extends RekeyCount {
  /** Whether further rows follow. */
  readonly hasMore: boolean;
}

/** Re-encodes the content of all jobs, one batch of rows after the other. */
export interface ContentStore {
  /**
   * Starts at the first row. Each call of the result re-encodes the next rows that are not current, at most `limit`, in one
   * transaction, or only counts them.
   */
  rekey(options: { readonly dryRun: boolean }): (limit: number) => Promise<RekeyBatch>;
}
