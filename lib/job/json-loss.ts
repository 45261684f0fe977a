/** A value that JSON cannot keep completely. */
export interface JsonLoss {
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
export function lossOf(value: object): JsonLoss | undefined {
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
