import { toUnits } from './units.js';

/** Bytes as a number, or a number with a unit of 1,024: `'512b'`, `'4kb'`, `'1mb'`. */
export type ByteSize = number | `${number}${'b' | 'kb' | 'mb'}`;

const UNIT_BYTES = { b: 1, kb: 1_024, mb: 1_048_576 } as const;

export const BYTE_SIZE_EXPECTED = `a size (bytes of 0 or more, or a string such as '512b', '4kb', '1mb')`;

/** Whole bytes; undefined if the value is no size. */
export function toBytes(value: unknown): number | undefined {
  return toUnits(value, UNIT_BYTES, 2 ** 40);
}

/** Whether the text has more bytes in UTF-8. */
export function isOver(text: string, bytes: number): boolean {
  // A UTF-16 unit takes at most three bytes, so short texts need no count.
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
}
