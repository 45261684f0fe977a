import { InvalidOptionsError } from '../../job/errors.js';
import { expected, isOptions } from '../../job/expectation.js';
import type { JobFilter } from '../../store/admin/admin-store.js';
import type { PageOptions } from '../../job/page-options.js';

const WHERE = 'Invalid request';
const FILTER_FIELDS = [
  'queue',
  'state',
  'name',
  'error',
  'key',
  'group',
  'schedule',
  'owner',
  'worker',
  'headers',
] as const;
const FILTER_TIMES = ['createdAfter', 'createdBefore', 'finishedAfter', 'finishedBefore'] as const;
const MAX_PAGE = 200;

/** The query or the JSON body of a request. The verbs of the library check the values; this class converts texts. */
export class BoardInput {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: unknown) {
    InvalidOptionsError.throwIfAny(WHERE, [expected(isOptions(values), 'a JSON object as the body', values)]);
    this.#values = values as Record<string, unknown>;
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  raw(name: string): unknown {
    return this.#values[name];
  }

  /** Undefined if it is missing or empty, as an empty field of a form is. */
  text(name: string): string | undefined {
    const value = this.#values[name];
    InvalidOptionsError.throwIfAny(WHERE, [
      expected(value === undefined || typeof value === 'string', `${name} to be one text`, value),
    ]);
    return value === '' ? undefined : (value as string | undefined);
  }

  /** None if it is missing. Empty ones are left out. */
  texts(name: string): string[] {
    const values = [this.#values[name] ?? []].flat();
    InvalidOptionsError.throwIfAny(WHERE, [
      expected(
        values.every((value) => typeof value === 'string'),
        `${name} to be texts`,
        this.#values[name],
      ),
    ]);
    return (values as string[]).filter((value) => value !== '');
  }

  required(name: string): string {
    const value = this.text(name);
    InvalidOptionsError.throwIfAny(WHERE, [expected(value !== undefined, `${name} to be given`, value)]);
    return value!;
  }

  number(name: string): number | undefined {
    const value = this.#values[name];
    return value === undefined || value === '' ? undefined : Number(value);
  }

  /** The library rejects NaN as it rejects any other value that is no id. */
  id(): number {
    return Number(this.#values['id'] ?? Number.NaN);
  }

  date(name: string): Date | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : new Date(text);
  }

  page(limit = 50): PageOptions {
    const wanted = this.number('limit') ?? limit;
    InvalidOptionsError.throwIfAny(WHERE, [expected(wanted <= MAX_PAGE, `limit to be at most ${MAX_PAGE}`, wanted)]);
    const order = this.text('order') as PageOptions['order'];
    return { limit: wanted, after: this.text('after'), ...(order !== undefined && { order }) };
  }

  /** The headers of a query are texts such as `tenant:42`. */
  filter(): JobFilter {
    const filter: Record<string, unknown> = {};
    for (const name of FILTER_FIELDS) if (this.has(name) && this.raw(name) !== '') filter[name] = this.raw(name);
    for (const name of FILTER_TIMES) if (this.text(name)) filter[name] = this.date(name);
    const pairs = [this.raw('header') ?? []].flat().filter((pair) => pair !== '');
    if (pairs.length > 0) filter['headers'] = Object.fromEntries(pairs.map(headerPair));
    return filter;
  }

  /** A part of a body, such as a filter. */
  part(name: string): BoardInput {
    return new BoardInput(this.#values[name]);
  }
}

function headerPair(pair: unknown): [string, string] {
  const text = String(pair);
  const colon = text.indexOf(':');
  InvalidOptionsError.throwIfAny(WHERE, [expected(colon > 0, 'header to be like name:value', text)]);
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}
