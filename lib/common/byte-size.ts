/** Bytes as a number, or a number with a unit of 1,024: `'512b'`, `'4kb'`, `'1mb'`. */
export type ByteSize = number | `${number}${'b' | 'kb' | 'mb'}`;

const UNIT_BYTES = { b: 1, kb: 1_024, mb: 1_048_576 } as const;

export const BYTE_SIZE_EXPECTED = `a size (bytes of 0 or more, or a string such as '512b', '4kb', '1mb')`;

/** Whole bytes; undefined if the value is no size. */
export function toBytes(value: unknown): number | undefined {
  const bytes = typeof value === 'string' ? parse(value) : value;
  return typeof bytes === 'number' && bytes >= 0 && bytes <= 2 ** 40 ? Math.round(bytes) : undefined;
}

function parse(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(b|kb|mb)$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * UNIT_BYTES[unit as keyof typeof UNIT_BYTES];
}
