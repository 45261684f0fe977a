import type { ContentCodec } from '../../../job/codec/content-codec.js';
import { isEnvelope, type CodecContent, type EncodeContext } from '../../../job/codec/payload-codec.js';
import { readJson } from '../../../job/json.js';
import { isOptions } from '../../../job/expectation.js';
import type { ContentKind } from './content-tables.js';

/** When the job needs its content. */
export type Due = Pick<EncodeContext, 'delayMs' | 'runAtMs'>;

/** The codec that reads the content, and the one that writes it. */
export interface Recoder {
  readonly from: ContentCodec;
  readonly to: ContentCodec;
}

/** Encodes the text of a column anew unless it is current. Rejects if it cannot be decoded. */
export async function reencode(codec: Recoder, stored: string, kind: ContentKind, due: Due): Promise<string> {
  if (kind === 'schedule') return reencodeText({ from: codec.from, to: codec.to.inline }, stored, 'payload');
  if (kind === 'errors') return reencodeErrors(codec, stored);
  if (kind !== 'step') return reencodeText(codec, stored, kind, due);
  // The data of a signal stands in a list.
  const isSignal = stored.startsWith('[{"$sql-queue"');
  // A plain value may be either, so it stays.
  if (!isSignal) return isEnvelope(stored) ? reencodeText(codec, stored, kind) : stored;
  return `[${await reencodeText(codec, stored.slice(1, -1), 'signal')}]`;
}

async function reencodeText({ from, to }: Recoder, stored: string, what: CodecContent, due: Due = {}): Promise<string> {
  if (from.isCurrent(stored)) return stored;
  return to.encode(await from.decode(stored, { what }), { what, ...due });
}

/** Keeps the order of the properties, because searches compare the beginning. */
async function reencodeErrors(codec: Recoder, stored: string): Promise<string> {
  const parsed = readJson(stored);
  if ('problem' in parsed || !isOptions(parsed.value)) return stored;
  const errors = parsed.value as Record<string, unknown>;
  const text = async (value: unknown) =>
    typeof value === 'string' ? reencodeText(codec, value, 'error') : (value as undefined);
  const { message, stack, earlier } = errors;
  const encoded = { ...errors };
  if ('message' in errors) encoded['message'] = await text(message);
  if ('stack' in errors) encoded['stack'] = await text(stack);
  if (Array.isArray(earlier)) {
    encoded['earlier'] = await Promise.all(
      earlier.map(async (error: unknown) =>
        Array.isArray(error) ? [...error.slice(0, 3), await text(error[3]), ...error.slice(4)] : error,
      ),
    );
  }
  return JSON.stringify(encoded);
}
