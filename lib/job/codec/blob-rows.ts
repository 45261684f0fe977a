/** The database, as far as the expiry of blobs depends on it. */
export interface BlobRows {
  /** The time of the database in milliseconds. The clocks of processes may be wrong. */
  readTime(): Promise<number>;
  /** The references in rows to blobs whose day of expiry is `day` or earlier, such as `2027-02-23`. */
  referencesUntil(day: string): Promise<readonly string[]>;
}
