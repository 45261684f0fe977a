/** A value of which JSON keeps nothing, or not all. */
export interface Loss {
  /** As it follows "got". */
  readonly what: string;
  /** What to do instead. */
  readonly hint?: string;
}

const HINTS: Readonly<Record<string, string>> = {
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

/** What JSON would lose of an object without toJSON(); undefined if that is nothing. Plain objects and arrays cost a comparison. */
export function lossOf(value: object): Loss | undefined {
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Object.prototype || prototype === null || Array.isArray(value)) return undefined;
  // A plain object of another realm.
  if (Object.getPrototypeOf(prototype) === null) return undefined;
  return lossOfInstance(value, prototype);
}

function lossOfInstance(value: object, prototype: object): Loss | undefined {
  // Of any realm: what Node itself has made is no instance of the classes that a test's sandbox has.
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  const name = nameOf(value, tag);
  if (tag === 'Map' || tag === 'Set') return { what: `a ${name}` };
  if (ArrayBuffer.isView(value)) return { what: aOrAn(name), hint: HINTS['ArrayBuffer']! };
  if (Object.hasOwn(HINTS, tag)) return { what: aOrAn(name), hint: HINTS[tag]! };
  if (typeof (value as { then?: unknown }).then === 'function') return { what: aOrAn(name), hint: HINTS['Promise']! };
  // JSON takes these for the primitives that they hold.
  if (tag === 'Number' || tag === 'String' || tag === 'Boolean') return undefined;
  if (hasPrivateFields(prototype)) return { what: `an instance of ${name} with private fields`, hint: FIELDS };
  if (Object.keys(value).length === 0 && keepsState(value, prototype)) {
    return { what: `an instance of ${name}, of which JSON keeps nothing`, hint: FIELDS };
  }
  return undefined;
}

/** Whether an object without properties of its own that JSON sees is more than one without any. */
function keepsState(value: object, prototype: object): boolean {
  if (Reflect.ownKeys(value).length > 0) return true;
  for (const each of classesOf(prototype)) {
    if (isNative(each.constructor)) return true;
    if (Object.values(Object.getOwnPropertyDescriptors(each)).some(({ get }) => get)) return true;
  }
  return false;
}

// As TypeScript, SWC and Babel write private fields for older targets.
const COMPILED_FIELD = /\b_\w+_\w+\.set\(this,|class_?private_?field_?init/i;

// By prototype: the source of a class never changes.
const withPrivateFields = new WeakMap<object, boolean>();

function hasPrivateFields(prototype: object): boolean {
  let known = withPrivateFields.get(prototype);
  if (known === undefined) {
    known = classesOf(prototype).some(({ constructor }) => declaresPrivateFields(constructor));
    withPrivateFields.set(prototype, known);
  }
  return known;
}

/** Nothing but its source says that a class has private fields: one that is declared, as no method, static or accessor is. */
function declaresPrivateFields(constructor: unknown): boolean {
  if (typeof constructor !== 'function' || isNative(constructor)) return false;
  const source = Function.prototype.toString.call(constructor);
  if (COMPILED_FIELD.test(source)) return true;
  const fields = source.matchAll(/[{;}\n]\s*#([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*(?=[=;}\n])/gu);
  return [...fields].some(([, name]) => source.includes(`.#${name}`));
}

/** The prototypes of an instance up to, but not with, the one of plain objects. */
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

function nameOf(value: object, tag: string): string {
  const { constructor } = value as { constructor?: unknown };
  const name = typeof constructor === 'function' ? constructor.name : '';
  return name && name !== 'Object' ? name : tag;
}

function aOrAn(name: string): string {
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`;
}
