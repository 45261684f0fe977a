import { createHash, randomUUID } from 'node:crypto';
import { sharedAbortController, withTimeout } from '../../common/abort.js';
import type { Clock } from '../../common/clock.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import type { OutageLog } from '../../common/logger.js';
import { ContentUnavailableError, hasCode } from '../errors.js';
import { formatValue } from '../../common/message-text.js';
import { isOver } from '../json.js';
import { resolveOptions } from '../option-schema.js';
import { storedError } from '../stored-error.js';
import { BLOB_OPTIONS, type BlobCallOptions, type BlobOptions, type BlobStore, type BlobRows } from './blob-options.js';
import { BLOB_KEY, BLOB_PREFIX, isBlob, readEnvelope, toEnvelope, type EncodeContext } from './payload-codec.js';

/** The parts of a reference: the key, the hash of the bytes, and the key of the envelope in the blob if it has one. */
const REFERENCE = /^(\d{4}-\d{2}-\d{2}\/[0-9a-f-]{36}) ([\w-]{43})(?: (.{1,100}))?$/s;

const PRUNE_INTERVAL_MS = 3_600_000;
// With more blobs, the next call goes on.
const MAX_PRUNE_MS = 30_000;
const TIME_VALID_MS = 600_000;
// Later days have more digits.
const LAST_EXPIRY_MS = Date.UTC(9_999, 11, 31);

/** Moves long payloads and results into a blob store, and leaves references in their place. */
export class Blobs {
  readonly #store: BlobStore;
  readonly #over: number;
  readonly #maxSize: number;
  readonly #timeoutMs: number;
  #prunedAtMs = -Infinity;
  /** Undefined until the store is open. */
  #rows: BlobRows | undefined;
  /** A time of the database, and the monotonic time at which it was read. */
  #time: { readonly atMs: number; readonly readAt: number } | undefined;
  /** From the time at which its job is due. */
  readonly keepMs: number;

  /** @param outage logs once while the store is down */
  constructor(
    options: BlobOptions,
    private readonly clock: Clock,
    private readonly outage: Pick<OutageLog, 'onFailure'>,
  ) {
    const { store, over, maxSize, keep, timeout } = resolveOptions(BLOB_OPTIONS, options);
    [this.#store, this.#over, this.#maxSize, this.#timeoutMs, this.keepMs] = [store!, over, maxSize, timeout, keep];
  }

  get canDelete(): boolean {
    return this.#store.delete !== undefined;
  }

  /** The text itself if it stays in its row. Returns a promise only for a blob. */
  encode(text: string, context: EncodeContext): MaybePromise<string> {
    const { what } = context;
    // Other content is short, or a signal, which no job may ever receive.
    if (what !== 'payload' && what !== 'result') return text;
    return isOver(text, this.#over) ? this.#put(text, context) : text;
  }

  /** @throws an error if the blob is gone or changed, ContentUnavailableError if the store is down */
  async decode(stored: string): Promise<string> {
    const { key, hash } = readReference(stored);
    const body = await this.#call('read a blob', (options) => this.#store.get(key, options), isBody);
    if (!body) throw new Error(`its blob ${key} is gone: it expired, it was erased, or this process has another store`);
    if (hashOf(body) !== hash) throw new Error(`its blob ${key} was changed`);
    return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  }

  /** Deletes the blobs of these references. References that other programs have damaged are skipped. */
  async delete(references: readonly string[]): Promise<void> {
    for (const reference of references) {
      const key = blobKeyOf(reference);
      if (key !== undefined) await this.#call('delete a blob', async (options) => this.#store.delete?.(key, options));
    }
  }

  /** Rejects if the store says that it cannot be used. */
  async check(): Promise<void> {
    await this.#store.check?.();
  }

  /** The clock of the database decides from here on when blobs expire. */
  useRows(rows: BlobRows): void {
    this.#rows = rows;
  }

  /** Deletes expired blobs that no row needs, if the store does not expire them itself and an hour has passed. */
  async prune(): Promise<void> {
    const nowMs = this.clock.monotonic();
    if (!this.#rows || !this.#store.delete || !this.#store.expired || nowMs - this.#prunedAtMs < PRUNE_INTERVAL_MS)
      return;
    const before = new Date(await this.#rows.readTime());
    const over = new AbortController();
    const expired = this.#store.expired(before, { signal: over.signal })[Symbol.asyncIterator]();
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => void failures.push(error);
    let isEnd = false;
    try {
      let needed: ReadonlySet<string | undefined> | undefined;
      for (;;) {
        const { done, value: key } = await this.#call('list expired blobs', () => expired.next());
        if ((isEnd = done === true)) break;
        // A later row names a blob of one of these rows, or a new one, which expires later.
        needed ??= new Set((await this.#rows.referencesUntil(dayOf(before))).map(blobKeyOf));
        if (needed.has(key)) continue;
        // Jobs of flows and of signals whose notification was lost wait for the other tasks of the pruner.
        if (this.clock.monotonic() - nowMs >= MAX_PRUNE_MS) break;
        await this.#call('delete a blob', async (options) => this.#store.delete?.(key, options)).catch(onFailure);
      }
      if (isEnd) this.#prunedAtMs = nowMs;
    } finally {
      over.abort();
      // Not awaited: a list that never answers never returns either, and would keep the worker from all further pruning.
      void (async () => expired.return?.())().catch(() => undefined);
    }
    if (failures.length > 0) throw failures[0];
  }

  async #put(text: string, { what, delayMs, runAtMs, timeoutMs }: EncodeContext): Promise<string> {
    const body = Buffer.from(text);
    if (body.length > this.#maxSize) {
      throw new Error(`expected at most ${this.#maxSize} bytes (blobs.maxSize), got ${body.length}`);
    }
    const now = await this.#databaseTime();
    // A run that was due long ago starts now.
    const dueMs = Math.max(now, runAtMs ?? now + (delayMs ?? 0));
    const expires = new Date(Math.min(dueMs + this.keepMs, LAST_EXPIRY_MS));
    const key = `${dayOf(expires)}/${randomUUID()}`;
    try {
      const put = (options: BlobCallOptions) => this.#store.put(key, body, { ...options, expires });
      await this.#call(`store a ${what}`, put, undefined, timeoutMs);
    } catch (error) {
      // The handler has succeeded, so its result stays in the row if it fits.
      if (what !== 'result') throw error;
      this.outage.onFailure(error);
      return text;
    }
    const inner = readEnvelope(text)?.key;
    return toEnvelope({
      key: BLOB_KEY,
      content: [key, hashOf(body), ...(inner === undefined ? [] : [inner])].join(' '),
    });
  }

  /** Reads the time every ten minutes. Without an answer, the clock of this process is good enough. */
  async #databaseTime(): Promise<number> {
    const now = this.clock.monotonic();
    if (!this.#time || now >= this.#time.readAt + TIME_VALID_MS) {
      const atMs = await this.#rows?.readTime().catch(() => undefined);
      if (atMs === undefined) return this.clock.now().getTime();
      this.#time = { atMs, readAt: now };
    }
    return Math.round(this.#time.atMs + now - this.#time.readAt);
  }

  /** A store that fails in any way may work later. */
  async #call<Result>(
    verb: string,
    act: (options: BlobCallOptions) => Promise<Result>,
    isResult: (result: Result) => boolean = () => true,
    jobTimeoutMs: number | false = false,
  ): Promise<Result> {
    const timeoutMs = Math.min(jobTimeoutMs || this.#timeoutMs, this.#timeoutMs);
    const over = sharedAbortController();
    let result!: Result;
    const work = (async () => void (result = await act({ signal: over.signal })))();
    try {
      if (!(await withTimeout(this.clock, timeoutMs, work))) throw new Error(`no answer within ${timeoutMs} ms`);
      if (!isResult(result)) throw new Error(`expected bytes or undefined, got ${formatValue(result)}`);
      return result;
    } catch (error) {
      if (hasCode(error, 'CONTENT_UNAVAILABLE')) throw error;
      throw new ContentUnavailableError(`The blob store cannot ${verb}: ${storedError(error).message}`, undefined, {
        cause: error,
      });
    } finally {
      over.abort();
    }
  }
}

/** An envelope like that in the blob, without its content; an empty text if the blob has none. */
export function innerOf(reference: string): string {
  const [, , , key] = REFERENCE.exec(readEnvelope(reference)?.content ?? '') ?? [];
  return key === undefined ? '' : toEnvelope({ key, content: '' });
}

/** The range of the references to blobs that expire on this day or earlier. */
export function referencesUntil(day: string): { readonly from: string; readonly to: string } {
  const from = `${BLOB_PREFIX}"d":"`;
  // After the slash that follows the day in a key.
  return { from, to: `${from}${day}~` };
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, -'Thh:mm:ss.mmmZ'.length);
}

/** Undefined for a reference that another program has damaged. */
export function blobKeyOf(reference: string): string | undefined {
  return isBlob(reference) ? REFERENCE.exec(readEnvelope(reference)?.content ?? '')?.[1] : undefined;
}

/** Other programs may have inserted any key, also one that leaves the folder of the store. */
function readReference(stored: string): { key: string; hash: string } {
  const [, key, hash] = REFERENCE.exec(readEnvelope(stored)?.content ?? '') ?? [];
  if (key === undefined || hash === undefined) throw new Error('the reference to its blob is damaged');
  return { key, hash };
}

function hashOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url');
}

function isBody(body: unknown): boolean {
  return body === undefined || body instanceof Uint8Array;
}
