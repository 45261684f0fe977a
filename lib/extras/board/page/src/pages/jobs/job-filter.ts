import type { Params } from '../../live/route.js';
import type { JobFilter } from '../../parts/bulk.js';

/** The fields of the filter: the names in the URL and on the chips. */
export const FILTER_FIELDS = {
  queue: 'queue',
  name: 'name',
  error: 'error',
  key: 'key',
  group: 'group',
  schedule: 'schedule',
  owner: 'owner',
  worker: 'worker',
  header: 'header',
  createdAfter: 'from',
  createdBefore: 'to',
} as const;

export type FilterField = keyof typeof FILTER_FIELDS;

export const FIELDS = Object.keys(FILTER_FIELDS) as FilterField[];

const HINTS: Readonly<Partial<Record<FilterField, string>>> = {
  error: 'the code or the name of an error',
  header: 'name:value',
  createdAfter: 'enqueued from: 2026-11-27 02:30, or 2h ago',
  createdBefore: 'enqueued before',
};

export const hintOf = (field: FilterField) => HINTS[field] ?? '';

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A text like `key:order-7`. */
export function parseField(text: string): { readonly field: FilterField; readonly value: string } | undefined {
  const [, name = '', value = ''] = /^\s*(\w+):\s*(.*)$/.exec(text) ?? [];
  const field = FIELDS.find((one) => FILTER_FIELDS[one] === name || one === name);
  return field && { field, value };
}

/** The filter as the server takes it. */
export function filterOf({ after: _after, order: _order, header, ...params }: Params): JobFilter {
  const filter: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(params))
    if (value !== undefined && value !== null && value !== '')
      filter[name] = isTime(name) ? instantOf(String(value)) : String(value);
  return { ...filter, ...(header && { header: [String(header)] }) };
}

const isTime = (name: string) => /^(created|finished)(After|Before)$/.test(name);

/** A time without a zone is one of the viewer. A browser takes a date without a time as midnight in UTC. */
export function instantOf(text: string): string {
  const date = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text);
  // The server reports a text that is no time.
  return Number.isNaN(date.getTime()) ? text : date.toISOString();
}

/**
 * A value that a person has typed: `2h` is a time that long ago. The value of a time is an instant, which viewers in other
 * zones read alike.
 */
export function valueOf(field: FilterField, text: string, nowMs: number): string {
  const value = text.trim();
  if (!isTime(field)) return value;
  const [, count, unit] = /^(\d+)\s*([mhd])/.exec(value) ?? [];
  if (count === undefined) return instantOf(value.replace(' ', 'T'));
  return new Date(nowMs - Number(count) * UNITS[unit as 'm']).toISOString();
}
