import { InvalidOptionsError } from '../job/errors.js';

/** A decorator of the library on a method. */
interface Decoration {
  /** Its source text, for messages. */
  readonly decorator: string;
  /** The key of its metadata. */
  readonly key: string;
  /** Undefined if other decorators of the method decide it. */
  readonly instance: string | undefined;
  readonly method: string;
}

const DECORATED = Symbol.for('nestjs-sql-queue:decorated-methods');

// Global, because all copies of the package share it. Weak, so that it keeps no class alive.
const decorated = ((globalThis as { [DECORATED]?: WeakMap<object, Decoration[]> })[DECORATED] ??= new WeakMap());

/**
 * Records a decorated method, so that the boot can tell whether its metadata is still there.
 *
 * @throws InvalidOptionsError if Nest would never find it: it is a property, an accessor or a static method
 */
export function recordMethod(
  prototype: object,
  method: string | symbol,
  descriptor: PropertyDescriptor | undefined,
  decoration: Omit<Decoration, 'method'>,
): void {
  const isStatic = typeof prototype === 'function';
  const host = isStatic ? prototype : prototype.constructor;
  const title = `${(host as { name: string }).name}.${String(method)}`;
  const got = typeof descriptor?.value !== 'function' ? 'a property' : isStatic ? 'a static method' : undefined;
  InvalidOptionsError.throwIfAny(title, [
    got && `expected a method of the class below ${decoration.decorator}, got ${got}`,
  ]);
  const others = decorated.get(prototype) ?? [];
  decorated.set(prototype, [...others, { ...decoration, method: String(method) }]);
}

/** Warnings of the decorated methods of the class and its base classes that another decorator has replaced. */
export function replacedMethods(prototype: object, instance: string, [firstInstance]: readonly string[]): string[] {
  const lost: Decoration[] = [];
  for (let each: object | null = prototype; each; each = Object.getPrototypeOf(each) as object | null) {
    for (const decoration of decorated.get(each) ?? []) {
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
