import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { isName } from '../job/identifiers.js';
import type { SqlQueueModuleOptions } from './module-options.js';
import { prototypeOf } from './prototype-of.js';
import { isExcludedHere, loadedProcessors } from './unworked-queues.js';

/** A method with @OnQueueEvent() or @Schedule(), in a file that this process has loaded. */
interface LoadedListener {
  readonly instance: string;
  /** Its source text, for messages. */
  readonly decorator: string;
  /** `Class.method`. */
  readonly title: string;
}

interface Shared {
  readonly listeners: Map<string, LoadedListener>;
  /** The names of the classes that a module of any application of this process has provided. */
  readonly provided: Set<string>;
}

const SHARED = Symbol.for('nestjs-sql-queue:loaded-classes');

// Global, because all copies of the package share it. Names only: a class that was loaded again, after a change or by
// another path, is the one that a module provides.
const shared = ((globalThis as { [SHARED]?: Shared })[SHARED] ??= { listeners: new Map(), provided: new Set() });

export function recordListener(listener: LoadedListener): void {
  shared.listeners.set(`${listener.instance}:${listener.title}:${listener.decorator}`, listener);
}

/** Also the tokens, because a test may replace a class, and the base classes of what is provided. */
export function recordProvided(wrappers: readonly InstanceWrapper[]): void {
  for (const wrapper of wrappers) {
    if (typeof wrapper.token === 'function') shared.provided.add(wrapper.token.name);
    for (let each = prototypeOf(wrapper) ?? null; each; each = Object.getPrototypeOf(each) as object | null)
      shared.provided.add(each.constructor.name);
  }
}

/**
 * Loaded handlers of queues without any handler here, by queue. Empty if the options turn the warning off. Without those of a
 * malformed name, which stops the boot of an application that provides their class.
 */
export function unprovidedProcessors(
  options: SqlQueueModuleOptions,
  worked: readonly string[],
  instance = '',
): Map<string, string> {
  // Without any handler, another warning names all loaded ones.
  if (options.unprovided === 'ignore' || worked.length === 0) return new Map();
  const missing = loadedProcessors(instance).filter(
    ({ queue, title }) =>
      isName(queue) && !isProvided(title) && !worked.includes(queue) && !isExcludedHere(options, queue),
  );
  return new Map(missing.map(({ queue, title }) => [queue, title]));
}

/** Loaded listeners of classes that have no handlers either. */
export function unprovidedListeners({ unprovided }: SqlQueueModuleOptions, instance = ''): string[] {
  if (unprovided === 'ignore') return [];
  const handling = new Set(loadedProcessors(instance).map(({ title }) => classOf(title)));
  return [...shared.listeners.values()]
    .filter((listener) => listener.instance === instance && !isProvided(listener.title))
    .filter(({ title }) => !handling.has(classOf(title)))
    .map(({ title, decorator }) => `${title} (${decorator})`);
}

export function unprovidedWarning(all: readonly string[]): string {
  return (
    `No module provides ${all.join(', ')}, so this process never calls it. Add the class to the \`providers\` of a module. If ` +
    "another process works its queue, name that in `worker.queues.exclude` here, or set `unprovided: 'ignore'`."
  );
}

function isProvided(title: string): boolean {
  return shared.provided.has(classOf(title));
}

function classOf(title: string): string {
  return title.split('.')[0]!;
}
