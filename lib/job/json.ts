import { lossOf, type Loss } from './lost-in-json.js';

/**
 * Text for a value that JSON can carry, and for nothing else: `JSON.parse` gives back what went in. Properties that are
 * undefined are left out, as JSON does; everything else that JSON would silently drop or change is refused. What toJSON()
 * answers stands for its object.
 */
export function encodeJson(value: unknown): { text: string } | { problem: string } {
  try {
    const problem = problemOf(value);
    if (problem !== undefined) return { problem };
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined
      ? { problem: 'expected a value that JSON can carry, got nothing from toJSON()' }
      : { text };
  } catch (error) {
    return { problem: `expected a value that JSON can carry, got ${(error as Error).message}` };
  }
}

function problemOf(value: unknown): string | undefined {
  const path: string[] = [];
  const ancestors: object[] = [];
  let problem: string | undefined;

  const refuse = ({ what, hint }: Loss): void => {
    const place = path.length > 0 ? path.join('.') : 'the top level';
    problem = `expected a value that JSON can carry, got ${what} at ${place}${hint === undefined ? '' : `: ${hint}`}`;
  };

  const check = (given: unknown): void => {
    if (problem !== undefined) return;
    const speaksForItself = isObject(given) && hasToJson(given);
    const child = speaksForItself ? insteadOf(given, path.at(-1) ?? '') : given;
    if (child === NOTHING) return;
    const loss = isObject(child)
      ? (trouble(child, ancestors) ?? (speaksForItself && child === given ? undefined : lossOf(child)))
      : lossOfPrimitive(child);
    if (loss) return refuse(loss);
    if (!isObject(child)) return;
    ancestors.push(child);
    for (const [key, grandchild] of Object.entries(child)) {
      if (grandchild === undefined && !Array.isArray(child)) continue;
      path.push(key);
      check(grandchild);
      path.pop();
    }
    // Object.entries passes over the holes of a sparse array, which JSON would turn into null.
    if (Array.isArray(child) && Object.keys(child).length < child.length && problem === undefined) {
      refuse({ what: 'an array with holes' });
    }
    ancestors.pop();
  };

  check(value);
  return problem;
}

const NOTHING = Symbol('nothing to check');

interface WithToJson {
  toJSON(key: string): unknown;
}

function hasToJson(value: object): value is WithToJson {
  return typeof (value as Partial<WithToJson>).toJSON === 'function';
}

/** What JSON takes for the object. */
function insteadOf(value: WithToJson, key: string): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? value : NOTHING;
  // Left out, like any property that is undefined. Bytes are many, and all of them numbers.
  if (Buffer.isBuffer(value)) return NOTHING;
  return value.toJSON(key) ?? NOTHING;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function trouble(value: object, ancestors: object[]): Loss | undefined {
  if (ancestors.includes(value)) return { what: 'a circular reference' };
  if (value instanceof Date && Number.isNaN(value.getTime())) return { what: 'an invalid Date' };
  return undefined;
}

function lossOfPrimitive(value: unknown): Loss | undefined {
  switch (typeof value) {
    case 'undefined':
      return { what: 'undefined' };
    case 'bigint':
      return { what: `a BigInt (${value}n)` };
    case 'function':
      return { what: 'a function' };
    case 'symbol':
      return { what: 'a symbol' };
    case 'number':
      return Number.isFinite(value) ? undefined : { what: String(value) };
    default:
      return undefined;
  }
}
