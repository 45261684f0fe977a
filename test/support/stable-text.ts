import { Ids, type Statement, type Values } from '../../lib/store/core/statement.js';
import { Templates } from '../../lib/store/core/template.js';

const PREFIX = 'sql_queue_';
// Other code may replace it, to observe statements.
const { bind } = Templates.prototype;

/**
 * The text as it is sent, but equal in each run: `?` for each value, one value for each list, `:now` for the clock, and
 * the default prefix of the tables.
 */
export function stableText(templates: Templates, { sql, values }: Statement): string {
  const prefix = textOf(templates, '{jobs}').replace(/jobs$/, '');
  const text = textOf(templates, sql, withShortLists(values)).replaceAll(clockText(templates), ':now');
  return withoutRepeats(text.replaceAll(prefix, PREFIX));
}

/** The text that `:now` stands for. */
export function clockText(templates: Templates): string {
  return textOf(templates, ':now');
}

function textOf(templates: Templates, sql: string, values: Values = {}): string {
  return bind.call(templates, { sql, values }).text;
}

function withShortLists(values: Values): Values {
  const first = (value: Values[string]): Values[string] => {
    if (value instanceof Ids) return new Ids(value.inOrder.slice(0, 1), value.column);
    return Array.isArray(value) ? (value as readonly string[]).slice(0, 1) : value;
  };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, first(value)]));
}

/** A clause that the statement repeats for each of many values occurs at most twice in the result. */
function withoutRepeats(text: string): string {
  const parts = text.replace(/( AS [a-z]+_)\d+\b/g, '$1n').split('?');
  for (let length = 1; length < parts.length / 2; length++) {
    for (let at = 1; at + 2 * length <= parts.length;) {
      const clause = parts.slice(at, at + length);
      const isRepeated = clause.every((part, index) => part === parts[at + length + index]);
      // Without a keyword it is a part of a list of values, such as those of a row.
      if (isRepeated && /[A-Z]{2}/.test(clause.join('?'))) parts.splice(at, length);
      else at++;
    }
  }
  return parts.join('?');
}
