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

export function readHeaders(text: string | null): { headers: Record<string, string> } | { problem: string } {
  if (text === null) return { headers: {} };
  const parsed = readJson(text);
  if ('problem' in parsed) return parsed;
  const { value } = parsed;
  if (value === null) return { headers: {} };
  const problem = expected(
    isOptions(value) && Object.values(value).every((one) => typeof one === 'string'),
    'an object of texts',
    value,
  );
  return problem === undefined ? { headers: value as Record<string, string> } : { problem };
}
