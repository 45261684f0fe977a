import { expected, isOptions } from './expectation.js';

// Another program may have written any value into a column.

export function readJson(text: unknown): { value: unknown } | { problem: string } {
  if (typeof text !== 'string') return { problem: expected(false, 'a text', text)! };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { problem: expected(false, 'JSON', text)! };
  }
}

interface ReadHeaders {
  readonly headers: Readonly<Record<string, string>>;
}

// Jobs without headers share this object.
const NO_HEADERS: ReadHeaders = { headers: Object.freeze({}) };

export function readHeaders(text: string | null): ReadHeaders | { problem: string } {
  if (text === null) return NO_HEADERS;
  const parsed = readJson(text);
  if ('problem' in parsed) return parsed;
  const { value } = parsed;
  if (value === null) return NO_HEADERS;
  const problem = expected(
    isOptions(value) && Object.values(value).every((one) => typeof one === 'string'),
    'an object of texts',
    value,
  );
  return problem === undefined ? { headers: value as Record<string, string> } : { problem };
}
