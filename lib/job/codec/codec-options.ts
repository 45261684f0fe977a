import type { Clock } from '../../common/clock.js';
import { OutageLog, type JobLogger } from '../../common/logger.js';
import { expected, isOptions } from '../expectation.js';
import type { BlobOptions } from './blob-options.js';
import { Blobs } from './blobs.js';
import { ContentCodec } from './content-codec.js';
import type { PayloadCodec } from './payload-codec.js';

/** A codec, or several that encode one after the other. */
export type CodecOption = PayloadCodec | readonly PayloadCodec[];

export function codecProblems(given: unknown): (string | undefined)[] {
  const codecs: readonly unknown[] = Array.isArray(given) ? given : [given];
  return [
    expected(codecs.length > 0, 'codec to be a codec or a list of codecs', given),
    ...codecs.map((codec, index) =>
      // Without the value, which may contain a key.
      isCodec(codec)
        ? undefined
        : `expected codec${Array.isArray(given) ? `[${index}]` : ''} to have the methods encode and decode, got ${typeof codec}`,
    ),
  ];
}

/** Undefined if neither option is set. */
export function resolveCodec(
  { codec = [], blobs }: { readonly codec?: CodecOption | undefined; readonly blobs?: BlobOptions | undefined },
  clock: Clock,
  logger: JobLogger,
): ContentCodec | undefined {
  const codecs = isCodec(codec) ? [codec] : codec;
  if (codecs.length === 0 && !blobs) return undefined;
  const outage = new OutageLog(logger, 'Jobs wait for a service of the codec', 'The service of the codec works again');
  return new ContentCodec(codecs, outage, blobs && new Blobs(blobs, clock, outage), clock);
}

function isCodec(codec: unknown): codec is PayloadCodec {
  const { encode, decode } = (isOptions(codec) ? codec : {}) as Partial<PayloadCodec>;
  return typeof encode === 'function' && typeof decode === 'function';
}
