// Not its single names: a bundle of ES modules would import zstd, which older Node lines do not have.
import zlib from 'node:zlib';
import type { ByteSize } from '../../common/units.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { isOver } from '../../job/json.js';
import { byteSize, checkAndResolve, oneOf, option, type SchemaOf } from '../../job/option-schema.js';
import { isEnvelope, readEnvelope, toEnvelope, type PayloadCodec } from '../../job/codec/payload-codec.js';

/** The options of `compress`. */
export interface CompressOptions {
  /** Shorter texts stay as they are. Default 4kb. */
  over?: ByteSize;
  /** `zstd` needs Node 22.15 or newer. All three are read, whatever this option says. Default `gzip`. */
  algorithm?: 'gzip' | 'brotli' | 'zstd';
  /**
   * The largest text. A larger one over `over` is refused where it is stored. After decompression it is damaged or an attack,
   * so its job is dead. Default 64mb.
   */
  maxSize?: ByteSize;
}

const COMPRESS_OPTIONS = {
  over: option(byteSize, '4kb'),
  algorithm: option(oneOf('gzip', 'brotli', 'zstd'), 'gzip'),
  maxSize: option(byteSize, '64mb'),
} satisfies SchemaOf<CompressOptions>;

interface Algorithm {
  compress(bytes: Buffer): Buffer;
  decompress(bytes: Buffer, options: { maxOutputLength: number }): Buffer;
}

// Quality 1 makes texts of words about as short as gzip does, in a quarter of its time. The default of 11 takes hundreds of
// times longer.
const BROTLI_OPTIONS = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } };

/** Without zstd on lines of Node that lack it. */
const ALGORITHMS: Readonly<Record<string, Algorithm | undefined>> = {
  gzip: { compress: (bytes) => zlib.gzipSync(bytes), decompress: zlib.gunzipSync },
  brotli: {
    compress: (bytes) => zlib.brotliCompressSync(bytes, BROTLI_OPTIONS),
    decompress: zlib.brotliDecompressSync,
  },
  zstd: zstd(),
};

/**
 * Compresses texts over a size, if that makes them shorter. Put it before encryption: encrypted texts cannot be compressed.
 *
 * @throws InvalidOptionsError
 */
export function compress(options: CompressOptions = {}): PayloadCodec {
  const resolved = checkAndResolve('compress', COMPRESS_OPTIONS, options);
  const { over: overBytes, algorithm, maxSize: maxOutputLength } = resolved;
  const chosen = ALGORITHMS[algorithm];
  InvalidOptionsError.throwIfAny('compress', [
    chosen ? undefined : `expected algorithm 'gzip' or 'brotli', got 'zstd', which needs Node 22.15 or newer`,
  ]);
  return {
    encode: (text) => {
      if (!isOver(text, overBytes)) return text;
      // It could not be decoded.
      if (isOver(text, maxOutputLength)) {
        const found = Buffer.byteLength(text);
        throw new Error(`expected at most ${maxOutputLength} bytes (maxSize of compress), got ${found}`);
      }
      const envelope = toEnvelope({ key: algorithm, content: chosen!.compress(Buffer.from(text)).toString('base64') });
      return envelope.length < text.length ? envelope : text;
    },
    // Content without an envelope may be short, and all algorithms are read.
    isCurrent: (stored) => !isEnvelope(stored) || Object.hasOwn(ALGORITHMS, readEnvelope(stored)?.key ?? ''),
    decode: (stored) => {
      const envelope = readEnvelope(stored);
      if (!envelope || !Object.hasOwn(ALGORITHMS, envelope.key)) return stored;
      const used = ALGORITHMS[envelope.key];
      if (!used) throw new Error(`it was compressed with ${envelope.key}, which this line of Node does not have`);
      return used.decompress(Buffer.from(envelope.content, 'base64'), { maxOutputLength }).toString();
    },
  };
}

function zstd(): Algorithm | undefined {
  const { zstdCompressSync, zstdDecompressSync } = zlib as unknown as {
    zstdCompressSync?: typeof zlib.gzipSync;
    zstdDecompressSync?: typeof zlib.gunzipSync;
  };
  if (!zstdCompressSync || !zstdDecompressSync) return undefined;
  return { compress: (bytes) => zstdCompressSync(bytes), decompress: zstdDecompressSync };
}
