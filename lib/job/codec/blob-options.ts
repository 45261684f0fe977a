import { DURATION_EXPECTED, type ByteSize, type Duration } from '../../common/units.js';
import { isOptions } from '../expectation.js';
import {
  byteSize,
  durationOf,
  kind,
  option,
  optionProblems,
  positiveDuration,
  type SchemaOf,
} from '../option-schema.js';

/**
 * An object store, or a folder, for long payloads and results. All processes need the same one. A call that rejects is
 * tried again later: `enqueue` rejects, and a claimed job waits without a counted attempt.
 */
export interface BlobStore {
  /**
   * Stores the bytes, and resolves when they would survive a crash. Only then does the library insert the row that refers to
   * them. A key is never written with other bytes.
   *
   * @param key the day of its expiry and a random part, such as `2027-02-23/4f0c…`: only the characters a-f 0-9 - and one /
   */
  put(key: string, body: Uint8Array, options: BlobPutOptions): Promise<void>;
  /**
   * Resolves with the bytes; undefined if the store has no such key. Then the job is dead, so reject if the store cannot tell
   * because it is down.
   */
  get(key: string, options: BlobCallOptions): Promise<Uint8Array | undefined>;
  /** Rejects if the store cannot be used as it is set up. The boot of a process calls it once, and fails then. */
  check?(): Promise<void>;
  /** Deletes the bytes, if the key exists. Without this method `QueueAdmin.erase` leaves blobs until they expire. */
  delete?(key: string, options: BlobCallOptions): Promise<void>;
  /**
   * The keys of the blobs that expired before the time. Each worker reads them every hour, and deletes those that no row
   * needs any more. Not needed if the store expires blobs itself.
   */
  expired?(before: Date, options: BlobCallOptions): AsyncIterable<string>;
}

export interface BlobCallOptions {
  /** Aborts when the library no longer waits for the call. */
  readonly signal: AbortSignal;
}

export interface BlobPutOptions extends BlobCallOptions {
  /**
   * By the clock of the database. A store that deletes blobs itself may do so from this time on. Jobs may need it until
   * then.
   */
  readonly expires: Date;
}

/** Stores long payloads and results outside of the database. */
export interface BlobOptions {
  store: BlobStore;
  /** Longer texts are blobs. Their length counts after all codecs. Default 64kb. */
  over?: ByteSize;
  /** The longest text. A longer payload is rejected, a longer result is not stored. Default 64mb. */
  maxSize?: ByteSize;
  /**
   * How long a blob is kept after the time at which its job is due: at least the longest retention of a queue. It must cover
   * the wait, all retries, the retention, and later retries by an administrator. Default 90d.
   */
  keep?: Duration;
  /** How long a call of the store may take. Default 30s. */
  timeout?: Duration;
}

const STORE = kind('an object with the methods put and get', (value): value is BlobStore => {
  const { put, get } = (isOptions(value) ? value : {}) as Partial<BlobStore>;
  return typeof put === 'function' && typeof get === 'function';
});

const MIN_KEEP_MS = 3_600_000;

export const BLOB_OPTIONS = {
  store: option(STORE),
  over: option(byteSize, '64kb'),
  maxSize: option(byteSize, '64mb'),
  keep: option(durationOf(`${DURATION_EXPECTED} from 1h`, MIN_KEEP_MS), '90d'),
  timeout: option(positiveDuration, '30s'),
} satisfies SchemaOf<BlobOptions>;

export function blobProblems(given: unknown): readonly string[] {
  // A store may have credentials, so a message never shows it.
  if (!isOptions(given))
    return [`expected blobs to be options (known: ${Object.keys(BLOB_OPTIONS).join(', ')}), got ${typeof given}`];
  const { store, ...others } = given as Partial<BlobOptions>;
  return [
    ...(STORE.parse(store) ? [] : [`expected blobs.store to be ${STORE.expected}, got ${typeof store}`]),
    ...optionProblems(BLOB_OPTIONS, others, { prefix: 'blobs.' }),
  ];
}

/** The database, as far as the expiry of blobs depends on it. */
export interface BlobRows {
  /** The time of the database in milliseconds. The clocks of processes may be wrong. */
  readTime(): Promise<number>;
  /** The references in rows to blobs whose day of expiry is `day` or earlier, such as `2027-02-23`. */
  referencesUntil(day: string): Promise<readonly string[]>;
}
