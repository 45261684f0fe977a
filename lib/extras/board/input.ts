import { InvalidOptionsError } from '../../job/errors.js';
import { expected, isOptions } from '../../job/expectation.js';
import { defined } from '../../job/option-schema.js';
import type { JobFilter } from '../../store/admin/admin-store.js';
import type { PageOptions } from '../../job/page-options.js';

const PAGE_FIELDS: readonly string[] = ['limit', 'after', 'order'];
const FILTER_TIMES = ['createdAfter', 'createdBefore', 'finishedAfter', 'finishedBefore'] as const;
const MAX_PAGE = 200;

/** The query or the JSON body of a request. The verbs of the library check the values; this class converts texts. */
export class BoardInput {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: unknown) {
    checkInput(isOptions(values), 'a JSON object as the body', values);
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
    checkInput(value === undefined || typeof value === 'string', `${name} to be one text`, value);
    return value === '' ? undefined : (value as string | undefined);
  }

  /** The texts of these names, without those that are missing or empty. */
  given<Name extends string>(...names: readonly Name[]): { [Key in Name]?: string } {
    return defined(Object.fromEntries(names.map((name) => [name, this.text(name)]))) as never;
  }

  /** None if it is missing. Empty ones are left out. */
  texts(name: string): string[] {
    const values = [this.#values[name] ?? []].flat();
    checkInput(
      values.every((value) => typeof value === 'string'),
      `${name} to be texts`,
      this.#values[name],
    );
    return (values as string[]).filter((value) => value !== '');
  }

  required(name: string): string {
    const value = this.text(name);
    checkInput(value !== undefined, `${name} to be given`, value);
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
    checkInput(wanted <= MAX_PAGE, `limit to be at most ${MAX_PAGE}`, wanted);
    const order = this.text('order') as PageOptions['order'];
    return { limit: wanted, after: this.text('after'), ...(order !== undefined && { order }) };
  }

  /** The filter beside the page in a query, in which an empty text is no condition. */
  queryFilter(): JobFilter {
    const given = Object.entries(this.#values).filter(([name, value]) => value !== '' && !PAGE_FIELDS.includes(name));
    return new BoardInput(Object.fromEntries(given)).filter();
  }

  /**
   * All values as a filter. Headers are texts such as `tenant:42`. Unknown and empty conditions stay, so that the library
   * rejects them: the filter without them would select more jobs.
   */
  filter(): JobFilter {
    const { header, ...conditions } = this.#values;
    const filter: Record<string, unknown> = conditions;
    for (const name of FILTER_TIMES) if (this.has(name)) filter[name] = new Date(this.text(name) ?? '');
    const pairs = header === undefined ? [] : [header].flat();
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
  checkInput(colon > 0, 'header to be like name:value', text);
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

/** Throws InvalidOptionsError unless a value of the request is as expected. */
export function checkInput(holds: boolean, what: string, value: unknown): void {
  InvalidOptionsError.throwIfAny('Invalid request', [expected(holds, what, value)]);
}
