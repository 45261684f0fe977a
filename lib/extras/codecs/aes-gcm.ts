import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected, isOptions, unknownKeys, requireOptions } from '../../job/expectation.js';
import {
  isEnvelope,
  readEnvelope,
  toEnvelope,
  type CodecContext,
  type PayloadCodec,
} from '../../job/codec/payload-codec.js';

/** A key of `aesGcm`. */
export interface AesKey {
  /** 1 to 50 of the characters A-Z a-z 0-9 . _ -. It is stored with each text, so that the key is found again. */
  id: string;
  /** 32 random bytes, or their base64 text. */
  key: Uint8Array | string;
}

/** The options of `aesGcm`. */
export interface AesGcmOptions {
  /** The keys of which the first one encrypts, and all decrypt. */
  keys: readonly AesKey[];
  /** Further keys that only decrypt: those before the last rotation, or the next one before it is used. Default: none. */
  older?: readonly AesKey[];
  /**
   * Whether payloads without an envelope are refused, and the payloads of jobs that other codecs have encoded. Default false:
   * other programs may insert plain payloads.
   */
  require?: boolean;
}

const ALGORITHM = 'aes-256-gcm';
const PREFIX = `${ALGORITHM}:`;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts with AES-256-GCM and a random nonce. The envelope names the key, so that keys can rotate: add the new key to
 * `older` in all processes, then put it first in `keys`, then call `QueueAdmin.rekey()`, then remove the old one. A key is
 * good for 2^32 texts.
 *
 * @throws InvalidOptionsError
 */
export function aesGcm(options: AesGcmOptions): PayloadCodec {
  const { keys, older = [], require = false } = requireOptions('aesGcm', options);
  InvalidOptionsError.throwIfAny('aesGcm', [
    ...unknownKeys(options, ['keys', 'older', 'require']),
    expected(Array.isArray(keys) && keys.length > 0, 'keys to be a list of at least one key', describe(keys)),
    expected(Array.isArray(older), 'older to be a list of keys', describe(older)),
    expected(typeof require === 'boolean', 'require to be true or false', require),
    ...keyProblems('keys', keys),
    ...keyProblems('older', older),
    ...duplicateProblems([...(Array.isArray(keys) ? keys : []), ...(Array.isArray(older) ? older : [])]),
  ]);
  const byId = new Map([...keys, ...older].map(({ id, key }) => [id, bytesOf(key)!]));
  const [newest] = keys as [AesKey];
  return new AesGcmCodec(newest.id, byId, require);
}

class AesGcmCodec implements PayloadCodec {
  readonly #newestKey: string;

  constructor(
    private readonly newestId: string,
    private readonly keys: ReadonlyMap<string, Buffer>,
    readonly require: boolean,
  ) {
    this.#newestKey = PREFIX + newestId;
  }

  encode(text: string, context: CodecContext): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.keys.get(this.newestId)!, nonce);
    cipher.setAAD(boundData(this.newestId, context));
    const encrypted = [cipher.update(text, 'utf8'), cipher.final()];
    const content = Buffer.concat([nonce, cipher.getAuthTag(), ...encrypted]).toString('base64');
    return toEnvelope({ key: this.#newestKey, content });
  }

  decode(stored: string, context: CodecContext): string {
    const envelope = readEnvelope(stored);
    if (!envelope) throw new Error('its envelope is damaged');
    if (!envelope.key.startsWith(PREFIX)) {
      if (this.require && context.what === 'payload') throw new Error('it is not encrypted');
      return stored;
    }
    const id = envelope.key.slice(PREFIX.length);
    const key = this.keys.get(id);
    if (!key) throw new Error(`this process has no such key (known: ${[...this.keys.keys()].join(', ')})`);
    const bytes = Buffer.from(envelope.content, 'base64');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('its envelope is damaged');
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(boundData(id, context));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      const start = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8');
      return start + decipher.final('utf8');
    } catch (error) {
      throw new Error('it was changed, or encrypted with another key of this id', { cause: error });
    }
  }

  isCurrent(stored: string): boolean {
    return isEnvelope(stored) && readEnvelope(stored)?.key === this.#newestKey;
  }
}

/** Without the queue and the id of the job, because replays and dead letters move content to other jobs and queues. */
function boundData(keyId: string, { what }: CodecContext): Buffer {
  return Buffer.from(`sql-queue 1 ${keyId} ${what}`);
}

function keyProblems(list: string, keys: unknown): (string | undefined)[] {
  if (!Array.isArray(keys)) return [];
  return keys.flatMap((given: unknown, index) => {
    const place = `${list}[${index}]`;
    if (!isOptions(given)) return [expected(false, `${place} to be { id, key }`, typeof given)];
    const { id, key, ...unknown } = given as Partial<AesKey>;
    return [
      ...unknownKeys(unknown, ['id', 'key']),
      expected(
        typeof id === 'string' && /^[\w.-]{1,50}$/.test(id),
        `${place}.id to be 1 to 50 of the characters A-Z a-z 0-9 . _ -`,
        id,
      ),
      // Without the value, which is a secret.
      expected(bytesOf(key) !== undefined, `${place}.key to be 32 bytes or their base64 text`, describe(key)),
    ];
  });
}

function duplicateProblems(keys: readonly Partial<AesKey>[]): (string | undefined)[] {
  const ids = keys.map((key) => key?.id);
  const twice = ids.find((id, index) => id !== undefined && ids.indexOf(id) !== index);
  return [expected(twice === undefined, 'each id once in keys and older', twice)];
}

function bytesOf(key: unknown): Buffer | undefined {
  const bytes =
    typeof key === 'string' ? Buffer.from(key, 'base64') : key instanceof Uint8Array ? Buffer.from(key) : undefined;
  return bytes?.length === 32 ? bytes : undefined;
}

/** Never the value, because it may contain a key. */
function describe(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === 'string') return `a text of ${value.length} characters`;
  return Array.isArray(value) ? 'an empty list' : typeof value;
}
