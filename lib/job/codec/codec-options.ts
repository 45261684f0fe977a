import type { OutageLog } from '../../common/outage-log.js';
import { expected, isOptions } from '../expectation.js';
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

/** Undefined if the option is not set. */
export function resolveCodec(given: CodecOption | undefined, outage: OutageLog): ContentCodec | undefined {
  return given === undefined ? undefined : new ContentCodec(isCodec(given) ? [given] : given, outage);
}

function isCodec(codec: unknown): codec is PayloadCodec {
  const { encode, decode } = (isOptions(codec) ? codec : {}) as Partial<PayloadCodec>;
  return typeof encode === 'function' && typeof decode === 'function';
}
