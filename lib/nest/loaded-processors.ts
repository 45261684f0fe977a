const LOADED = Symbol.for('nestjs-sql-queue:loaded-processors');

/** A class or method with @QueueProcessor(), in a file that this process has loaded. */
export interface LoadedProcessor {
  readonly queue: string;
  readonly instance: string;
  /** `Class` or `Class.method`. */
  readonly title: string;
}

// Shared by all copies of the package (ESM and CommonJS). Only names, so that no class is kept alive.
const loaded = ((globalThis as { [LOADED]?: Map<string, LoadedProcessor> })[LOADED] ??= new Map<
  string,
  LoadedProcessor
>());

/** Remembers what a decorator has decorated, whether or not a module ever provides it. */
export function rememberProcessor(processor: LoadedProcessor): void {
  loaded.set(`${processor.instance}:${processor.title}:${processor.queue}`, processor);
}

/** All that was decorated for one instance of the module. */
export function loadedProcessors(instance = ''): LoadedProcessor[] {
  return [...loaded.values()].filter((processor) => processor.instance === instance);
}
