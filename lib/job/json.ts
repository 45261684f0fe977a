import { messageOf } from '../common/message-text.js';
import { expected, isOptions } from './expectation.js';

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
    return { problem: `expected a value that JSON can carry, got ${messageOf(error)}` };
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

/** A value that JSON cannot keep completely. */
interface JsonLoss {
  /** The value in words, for a message after "got". */
  readonly what: string;
  readonly advice?: string;
}

const ADVICE: Readonly<Record<string, string>> = {
  Promise: 'await it first',
  Error: 'pass its message, or { name, message, stack }',
  DOMException: 'pass its message, or { name, message, stack }',
  RegExp: 'pass its source and flags',
  ArrayBuffer: `pass Buffer.from(value).toString('base64')`,
  SharedArrayBuffer: `pass Buffer.from(value).toString('base64')`,
  Generator: 'spread it into an array',
  AsyncGenerator: 'collect it into an array',
};

const FIELDS = 'pass a plain object of its fields, or give it a toJSON()';

/** The loss of an object without toJSON(); undefined if JSON keeps it. Plain objects and arrays cost one comparison. */
function lossOf(value: object): JsonLoss | undefined {
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Object.prototype || prototype === null || Array.isArray(value)) return undefined;
  // A plain object of another realm.
  if (Object.getPrototypeOf(prototype) === null) return undefined;
  return lossOfInstance(value, prototype);
}

function lossOfInstance(value: object, prototype: object): JsonLoss | undefined {
  // Tags work across realms. In a test sandbox, objects of Node are no instances of the global classes.
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  const name = nameOf(value, tag);
  if (tag === 'Map' || tag === 'Set') return { what: `a ${name}` };
  if (ArrayBuffer.isView(value)) return { what: aOrAn(name), advice: bytesAdvice(value, name) };
  if (Object.hasOwn(ADVICE, tag)) return { what: aOrAn(name), advice: ADVICE[tag]! };
  if (typeof (value as { then?: unknown }).then === 'function')
    return { what: aOrAn(name), advice: ADVICE['Promise']! };
  // JSON encodes the primitives in these objects.
  if (tag === 'Number' || tag === 'String' || tag === 'Boolean') return undefined;
  if (hasPrivateFields(prototype)) return { what: `an instance of ${name} with private fields`, advice: FIELDS };
  if (Object.keys(value).length === 0 && keepsState(value, prototype)) {
    return { what: `an instance of ${name}, of which JSON keeps nothing`, advice: FIELDS };
  }
  return undefined;
}

/** Whether an object without enumerable properties has state elsewhere. */
function keepsState(value: object, prototype: object): boolean {
  if (Reflect.ownKeys(value).length > 0) return true;
  for (const each of classesOf(prototype)) {
    if (isNative(each.constructor)) return true;
    if (Object.values(Object.getOwnPropertyDescriptors(each)).some(({ get }) => get)) return true;
  }
  return false;
}

// The form of private fields that TypeScript, SWC and Babel emit for older targets.
const COMPILED_FIELD = /\b_\w+_\w+\.set\(this,|class_?private_?field_?init/i;

// Cached by prototype, because the source of a class never changes.
const withPrivateFields = new WeakMap<object, boolean>();

function hasPrivateFields(prototype: object): boolean {
  let known = withPrivateFields.get(prototype);
  if (known === undefined) {
    known = classesOf(prototype).some(({ constructor }) => declaresPrivateFields(constructor));
    withPrivateFields.set(prototype, known);
  }
  return known;
}

/** Only the source shows private fields. A field needs a declaration and a use, which excludes private methods. */
function declaresPrivateFields(constructor: unknown): boolean {
  if (typeof constructor !== 'function' || isNative(constructor)) return false;
  const source = Function.prototype.toString.call(constructor);
  if (COMPILED_FIELD.test(source)) return true;
  const fields = source.matchAll(/[{;}\n]\s*#([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*(?=[=;}\n])/gu);
  return [...fields].some(([, name]) => source.includes(`.#${name}`));
}

/** The prototypes of an instance, without the one of plain objects. */
function classesOf(prototype: object): object[] {
  const classes: object[] = [];
  let each: object | null = prototype;
  for (let next; each && (next = Object.getPrototypeOf(each) as object | null); each = next) classes.push(each);
  return classes;
}

function isNative(constructor: unknown): boolean {
  return (
    typeof constructor === 'function' &&
    /\{\s*\[native code\]\s*\}$/.test(Function.prototype.toString.call(constructor))
  );
}

/** Buffer.from() of a view with longer elements than bytes would cut each of them. */
function bytesAdvice(view: ArrayBufferView, name: string): string {
  if (Buffer.isBuffer(view)) return `pass value.toString('base64')`;
  if (name === 'Uint8Array') return ADVICE['ArrayBuffer']!;
  return `pass Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')`;
}

function nameOf(value: object, tag: string): string {
  const { constructor } = value as { constructor?: unknown };
  const name = typeof constructor === 'function' ? constructor.name : '';
  return name && name !== 'Object' ? name : tag;
}

function aOrAn(name: string): string {
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`;
}

/** Whether the text has more bytes in UTF-8. */
export function isOver(text: string, bytes: number): boolean {
  // A UTF-16 unit takes at most three bytes, so short texts need no count.
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
}

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
