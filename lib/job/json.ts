import { lossOf, type JsonLoss } from './json-loss.js';

/**
 * The JSON text of a value, if `JSON.parse` restores the value without loss. Undefined properties are omitted, as in
 * JSON. Any other value that JSON would silently drop or change is a problem. An object with toJSON() is replaced by
 * its result.
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

  const reportLoss = ({ what, advice }: JsonLoss): void => {
    const location = path.length > 0 ? path.join('.') : 'the top level';
    problem = `expected a value that JSON can carry, got ${what} at ${location}${advice === undefined ? '' : `: ${advice}`}`;
  };

  const check = (given: unknown): void => {
    if (problem !== undefined) return;
    // Its toJSON() writes each byte as a number, and the handler would receive a plain object.
    const hasOwnJson = isObject(given) && hasToJson(given) && !Buffer.isBuffer(given);
    const child = hasOwnJson ? jsonValueOf(given, path.at(-1) ?? '') : given;
    if (child === NOTHING_TO_CHECK) return;
    const loss = isObject(child)
      ? (lossOfStructure(child, ancestors) ?? (hasOwnJson && child === given ? undefined : lossOf(child)))
      : lossOfPrimitive(child);
    if (loss) return reportLoss(loss);
    if (!isObject(child)) return;
    ancestors.push(child);
    for (const [key, grandchild] of Object.entries(child)) {
      if (grandchild === undefined && !Array.isArray(child)) continue;
      path.push(key);
      check(grandchild);
      path.pop();
    }
    // Object.entries skips the holes of a sparse array, which JSON would turn into null.
    if (Array.isArray(child) && Object.keys(child).length < child.length && problem === undefined) {
      reportLoss({ what: 'an array with holes' });
    }
    ancestors.pop();
  };

  check(value);
  return problem;
}

const NOTHING_TO_CHECK = Symbol('nothing to check');

interface WithToJson {
  toJSON(key: string): unknown;
}

function hasToJson(value: object): value is WithToJson {
  return typeof (value as Partial<WithToJson>).toJSON === 'function';
}

function jsonValueOf(value: WithToJson, key: string): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? value : NOTHING_TO_CHECK;
  return value.toJSON(key) ?? NOTHING_TO_CHECK;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function lossOfStructure(value: object, ancestors: object[]): JsonLoss | undefined {
  if (ancestors.includes(value)) return { what: 'a circular reference' };
  if (value instanceof Date && Number.isNaN(value.getTime())) return { what: 'an invalid Date' };
  return undefined;
}

function lossOfPrimitive(value: unknown): JsonLoss | undefined {
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
