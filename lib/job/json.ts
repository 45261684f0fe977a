/**
 * Text for a value that JSON can carry, and for nothing else: what `JSON.parse` gives back equals what went in. Properties
 * that are undefined are left out, as JSON does; everything else that JSON would silently drop or change is refused.
 */
export function encodeJson(value: unknown): { text: string } | { problem: string } {
  const path: string[] = [];
  const ancestors: object[] = [];
  let problem: string | undefined;

  const check = (child: unknown): void => {
    if (problem !== undefined) return;
    const kind = trouble(child, ancestors);
    if (kind) {
      problem = `expected a value that JSON can carry, got ${kind} at ${path.length ? path.join('.') : 'the top level'}`;
      return;
    }
    if (typeof child !== 'object' || child === null) return;
    if (typeof (child as { toJSON?: unknown }).toJSON === 'function') return;
    ancestors.push(child);
    for (const [key, grandchild] of Object.entries(child)) {
      if (grandchild === undefined && !Array.isArray(child)) continue;
      path.push(key);
      check(grandchild);
      path.pop();
    }
    // Object.entries passes over the holes of a sparse array, which JSON would turn into null.
    if (Array.isArray(child) && Object.keys(child).length < child.length) problem ??= holes(path);
    ancestors.pop();
  };

  check(value);
  if (problem !== undefined) return { problem };
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined
      ? { problem: 'expected a value that JSON can carry, got nothing from toJSON()' }
      : { text };
  } catch (error) {
    return { problem: `expected a value that JSON can carry, got ${(error as Error).message}` };
  }
}

function holes(path: string[]): string {
  return `expected a value that JSON can carry, got an array with holes at ${path.join('.') || 'the top level'}`;
}

function trouble(value: unknown, ancestors: object[]): string | undefined {
  switch (typeof value) {
    case 'undefined':
      return 'undefined';
    case 'bigint':
      return `a BigInt (${value}n)`;
    case 'function':
      return 'a function';
    case 'symbol':
      return 'a symbol';
    case 'number':
      return Number.isFinite(value) ? undefined : String(value);
    case 'object':
      if (value === null) return undefined;
      if (ancestors.includes(value)) return 'a circular reference';
      if (value instanceof Map || value instanceof Set) return `a ${value.constructor.name}`;
      if (value instanceof Date && Number.isNaN(value.getTime())) return 'an invalid Date';
      return undefined;
    default:
      return undefined;
  }
}
