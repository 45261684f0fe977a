import type { ContentCodec } from '../../job/codec/content-codec.js';
import { isEnvelope, type CodecContent } from '../../job/codec/payload-codec.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import type { JobLogEntry, JobLogStore } from '../features/logs/job-log-store.js';
import type { StoredContent } from './stored-content.js';

/** Encodes the progress and the log lines of attempts. */
export function encodingJobLogStore(store: JobLogStore, content: StoredContent, codec: ContentCodec): JobLogStore {
  const encoded = new WeakMap<JobLogEntry, MaybePromise<JobLogEntry>>();
  const encode = (entry: JobLogEntry) => {
    const known = encoded.get(entry) ?? encodeEntry(entry, codec);
    encoded.set(entry, known);
    return known;
  };
  return {
    ...store,
    prepareJobLog: (entry) => {
      const preparing = encode(entry);
      return preparing instanceof Promise ? preparing.catch(() => undefined) : undefined;
    },
    writeJobLogs: async (entries) => {
      const settled = await Promise.allSettled(entries.map(async (entry) => encode(entry)));
      await store.writeJobLogs(settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
      // The entries of other runs are stored. The caller logs the error.
      const failed = settled.find((each) => each.status === 'rejected');
      if (failed) throw failed.reason;
    },
    progressOf: async (ids) => {
      const decoded = new Map<number, string>();
      for (const [id, value] of await store.progressOf(ids)) {
        const text = await content.decodeText(value, 'progress');
        // A caller that waits for the job misses a progress that it cannot decode, and still gets the result.
        if (text === value || !isEnvelope(value) || isJson(text)) decoded.set(id, text);
      }
      return decoded;
    },
  };
}

/** Returns a promise only if the codec does, or if it rejects a text. */
function encodeEntry(
  { value, lines, timeoutMs, ...entry }: JobLogEntry,
  codec: ContentCodec,
): MaybePromise<JobLogEntry> {
  const encode = (text: string, what: CodecContent): MaybePromise<string> => {
    try {
      return codec.encode(text, { what, timeoutMs });
    } catch (error) {
      return rejected(error as Error);
    }
  };
  const progress = value === undefined ? undefined : encode(value, 'progress');
  const texts = lines.map(({ text }) => encode(text, 'log'));
  const toEntry = ([first, ...others]: readonly (string | undefined)[]): JobLogEntry => ({
    ...entry,
    value: first,
    lines: lines.map(({ agoMs }, index) => ({ text: others[index]!, agoMs })),
  });
  const all = [progress, ...texts];
  if (!all.some((each) => each instanceof Promise)) return toEntry(all as (string | undefined)[]);
  return Promise.all(all.map(async (each) => each)).then(toEntry);
}

/** Other texts of the entry may be under way, so none may throw. */
function rejected(error: Error): Promise<never> {
  return Promise.reject(error);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
