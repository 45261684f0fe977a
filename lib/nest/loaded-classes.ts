import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { InvalidOptionsError } from '../job/errors.js';
import { prototypeOf } from './prototype-of.js';

/** A decorator of the library in a file that this process has loaded. */
interface Decoration {
  /** @OnQueueEvent() and @Schedule() are those of listeners. */
  readonly kind: 'processor' | 'handler' | 'listener';
  /** Its source text, for messages. */
  readonly decorator: string;
  /** The key of its metadata. */
  readonly key: string;
  /** Undefined if other decorators of the method decide it. */
  readonly instance: string | undefined;
  /** Of a processor. */
  readonly queue?: string;
  /** `Class` or `Class.method`. */
  readonly title: string;
  /** Empty for a decorator of a class. */
  readonly method: string;
}

interface Loaded {
  /** By prototype. Weak, so that it keeps no class alive. */
  readonly methods: WeakMap<object, Decoration[]>;
  /** Names only: a class that was loaded again, after a change or by another path, is the one that a module provides. */
  readonly all: Map<string, Decoration>;
  /** The names of the classes that a module of any application of this process has provided. */
  readonly provided: Set<string>;
}

const LOADED = Symbol.for('nestjs-sql-queue:decorations');

// Global, because the ESM and CommonJS copies of the package share it.
const loaded = ((globalThis as { [LOADED]?: Loaded })[LOADED] ??= {
  methods: new WeakMap(),
  all: new Map(),
  provided: new Set(),
});

/**
 * Records a decorated class or method, whether or not a module provides it. Returns its title.
 *
 * @throws InvalidOptionsError if Nest would never find the method: it is a property, an accessor or a static method
 */
export function recordDecorator(
  target: object,
  method: string | symbol | undefined,
  descriptor: PropertyDescriptor | undefined,
  given: Omit<Decoration, 'title' | 'method'>,
): string {
  const isClass = typeof target === 'function';
  const { name } = (isClass ? target : target.constructor) as { name: string };
  const title = method === undefined ? name : `${name}.${String(method)}`;
  const decoration = { ...given, title, method: String(method ?? '') };
  if (method !== undefined) {
    const got = typeof descriptor?.value !== 'function' ? 'a property' : isClass ? 'a static method' : undefined;
    InvalidOptionsError.throwIfAny(title, [
      got && `expected a method of the class below ${given.decorator}, got ${got}`,
    ]);
    loaded.methods.set(target, [...(loaded.methods.get(target) ?? []), decoration]);
  }
  if (given.kind !== 'handler') loaded.all.set(`${given.instance ?? ''}:${title}:${given.decorator}`, decoration);
  return title;
}

/** Also the tokens, because a test may replace a class, and the base classes of what is provided. */
export function recordProvided(wrappers: readonly InstanceWrapper[]): void {
  for (const wrapper of wrappers) {
    if (typeof wrapper.token === 'function') loaded.provided.add(wrapper.token.name);
    for (let each = prototypeOf(wrapper) ?? null; each; each = Object.getPrototypeOf(each) as object | null)
      loaded.provided.add(each.constructor.name);
  }
}

export function isProvided(title: string): boolean {
  return loaded.provided.has(classOf(title));
}

export function classOf(title: string): string {
  return title.split('.')[0]!;
}

export type LoadedProcessor = Decoration & { readonly queue: string };

export function loadedProcessors(instance: string): LoadedProcessor[] {
  return ofKind('processor', instance) as LoadedProcessor[];
}

export function loadedListeners(instance: string): Decoration[] {
  return ofKind('listener', instance);
}

function ofKind(kind: Decoration['kind'], instance: string): Decoration[] {
  return [...loaded.all.values()].filter((one) => one.kind === kind && (one.instance ?? '') === instance);
}

/** Warnings of the decorated methods of the class and its base classes that another decorator has replaced. */
export function replacedMethods(prototype: object, instance: string, [firstInstance]: readonly string[]): string[] {
  const lost: Decoration[] = [];
  for (let each: object | null = prototype; each; each = Object.getPrototypeOf(each) as object | null) {
    for (const decoration of loaded.methods.get(each) ?? []) {
      // A subclass may override a method on purpose, and a decorator may copy the metadata.
      const isKept = [prototype, each].some((holder) => hasMetadata(decoration, holder));
      // Every instance of the module finds a decorator that names none. The first one reports it.
      if (!isKept && (decoration.instance ?? firstInstance) === instance) lost.push(decoration);
    }
  }
  return lost.map(
    ({ decorator, method }) =>
      `${prototype.constructor.name}.${method}: ${decorator} has no effect, because a decorator above it has replaced the method ` +
      `without its metadata. Move ${decorator} to the top.`,
  );
}

function hasMetadata({ key, method }: Decoration, holder: object): boolean {
  const callback: unknown = Object.getOwnPropertyDescriptor(holder, method)?.value;
  return typeof callback === 'function' && Reflect.hasMetadata(key, callback);
}
