import type { AttemptError, StoredError } from '../../job/stored-error.js';
import type { ContentCodec } from '../../job/codec/content-codec.js';
import { envelopeOf, isEnvelope, type CodecContent, type EncodeContext } from '../../job/codec/payload-codec.js';
import type { JobRecord } from '../../job/job.js';
import { andThen, type MaybePromise } from '../../common/maybe-promise.js';

/** Stands for content that cannot be decoded, so that a list shows the other jobs. */
export interface UndecodableContent {
  /** The reason. */
  $undecodable: string;
}

type Place = Pick<EncodeContext, 'queue' | 'name' | 'timeoutMs'>;

/** Encodes and decodes the content of jobs beside their payloads. Never rejects. */
export class StoredContent {
  constructor(private readonly codec: ContentCodec) {}

  /** The name and the code stay, because filters and rules compare them. */
  encodeError(plain: StoredError, { queue, name, timeoutMs }: Place): MaybePromise<StoredError> {
    const context = { what: 'error', queue, name, timeoutMs } as const;
    const { stack, ...others } = plain;
    // Without its message, because the job must end.
    const failed = (problem: unknown) => ({ ...others, message: `(not stored: ${(problem as Error).message})` });
    try {
      const encoded = andThen(this.codec.encode(plain.message, context), (message) =>
        stack === undefined
          ? { ...others, message }
          : andThen(this.codec.encode(stack, context), (encodedStack) => ({ ...others, message, stack: encodedStack })),
      );
      return encoded instanceof Promise ? encoded.catch(failed) : encoded;
    } catch (problem) {
      return failed(problem);
    }
  }

  async decodeError<ErrorOrNull extends StoredError | AttemptError | null>(
    error: ErrorOrNull,
    place: Place = {},
  ): Promise<ErrorOrNull> {
    if (!error) return error;
    const { message, stack } = error as StoredError;
    if (!isEnvelope(message) && !isEnvelope(stack)) return error;
    const decoded = { ...error, message: await this.decodeText(message, 'error', place) };
    return stack === undefined ? decoded : { ...decoded, stack: await this.decodeText(stack, 'error', place) };
  }

  /** The reason in parentheses if the text cannot be decoded. */
  async decodeText(text: string, what: CodecContent, place: Place = {}): Promise<string> {
    try {
      return isEnvelope(text) ? await this.codec.decode(text, { ...place, what }) : text;
    } catch (error) {
      return `(${(error as Error).message})`;
    }
  }

  /** The JSON text, or the reason why a caller that waits for the result gets none. */
  async decodeResult(result: string | null, place: Place): Promise<{ result: string | null; undecodable?: Error }> {
    if (result === null || !isEnvelope(result)) return { result };
    try {
      return { result: await this.codec.decode(result, { ...place, what: 'result' }) };
    } catch (error) {
      return { result: null, undecodable: error as Error };
    }
  }

  /** The value of a column that was parsed as JSON. */
  async decodeValue<Value>(value: Value, what: CodecContent, place: Place = {}): Promise<Value | UndecodableContent> {
    const envelope = envelopeOf(value);
    if (envelope === undefined) return value;
    try {
      return JSON.parse(await this.codec.decode(envelope, { ...place, what })) as Value;
    } catch (error) {
      return { $undecodable: (error as Error).message };
    }
  }

  async decodeRecord<Job extends JobRecord>(job: Job): Promise<Job> {
    const { queue, name } = job;
    const place = { queue, name };
    const [payload, result, progress, error, ...errors] = await Promise.all([
      this.decodeValue(job.payload, 'payload', place),
      this.decodeValue(job.result, 'result', place),
      this.decodeValue(job.progress, 'progress', place),
      this.decodeError(job.error, place),
      ...job.errors.map((each) => this.decodeError(each, place)),
    ]);
    return { ...job, payload, result, progress, error, errors };
  }

  decodeRecords<Job extends JobRecord>(jobs: readonly Job[]): Promise<Job[]> {
    return Promise.all(jobs.map((job) => this.decodeRecord(job)));
  }
}
