import type { Random } from './random.js';

// Texts that broke other programs: SQL quotes and comments, placeholders of this library and of drivers, special names
// of JavaScript, and texts with encoding problems.
// prettier-ignore
const FRAGMENTS = [
  "'", '"', '`', '\\', "\\'", ';', '--', '-- ', '#', '/*', '*/', '/*!50000 ', '/*M! ', '%', '_', '?', '??', ':now',
  ':id', '{jobs}', '${x}', '$1', 'DROP TABLE sql_queue_jobs', "' OR '1'='1", 'UNION SELECT', 'SLEEP(1)', 'NULL',
  '0x27', '\u0000', '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'toJSON', 'then', 'email',
  'Email', 'émail', '😀', '\ud800', '\u2028', '\ufeff', '\u202e', ' ', '\t', '\n', 'ß', '日本', 'a.b:c-d_e', '*',
  'report.*', '-1', '1e999',
];

/** Texts of these fragments, of all lengths up to far too long. */
export function fuzzedText(random: Random): string {
  if (random.next() < 0.02) return random.pick(FRAGMENTS).repeat(random.between(100, 3_000));
  return Array.from({ length: random.between(0, 4) }, () => random.pick(FRAGMENTS)).join('');
}

/** Values of every kind, including some that no payload can contain. */
export function fuzzedValue(random: Random, depth = 3): unknown {
  const kind = random.between(0, depth > 0 ? 15 : 12);
  switch (kind) {
    case 0:
      return fuzzedText(random);
    case 1:
      return random.pick([0, -0, 1, -1, 1.5, 2 ** 53, 2 ** 63, 1e308, 5e-324, NaN, Infinity, -Infinity]);
    case 2:
      return random.pick([true, false]);
    case 3:
      return null;
    case 4:
      return undefined;
    case 5:
      return random.pick([10n, 2n ** 70n]);
    case 6:
      return random.pick([new Date(0), new Date(NaN), new Date(8.64e15)]);
    case 7:
      return random.pick([() => 1, class {}, Symbol('x'), /x/g, new Error('x')]);
    case 8:
      return random.pick([new Map([[1, 2]]), new Set([1]), Buffer.from('x'), new Uint8Array(3), new WeakMap()]);
    case 9: {
      const circle: Record<string, unknown> = {};
      circle['self'] = { circle };
      return circle;
    }
    case 10:
      return { toJSON: random.pick([() => undefined, () => 'x', () => ({ a: 10n })]) };
    case 11:
      return JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    case 12:
      return Object.create(null);
    case 13:
      return Array.from({ length: random.between(0, 4) }, () => fuzzedValue(random, depth - 1));
    case 14:
      return [, 1]; // eslint-disable-line no-sparse-arrays
    default:
      return Object.fromEntries(
        Array.from({ length: random.between(0, 4) }, () => [fuzzedText(random), fuzzedValue(random, depth - 1)]),
      );
  }
}

/** Options with these keys and others, with valid values and arbitrary ones. */
export function fuzzedOptions(random: Random, good: Readonly<Record<string, readonly unknown[]>>): unknown {
  if (random.next() < 0.03) return fuzzedValue(random);
  const options: Record<string, unknown> = {};
  for (const [key, values] of Object.entries(good)) {
    if (random.next() < 0.5) continue;
    options[key] = random.next() < 0.8 ? random.pick(values) : fuzzedValue(random);
  }
  if (random.next() < 0.1) options[fuzzedText(random)] = fuzzedValue(random);
  return options;
}
