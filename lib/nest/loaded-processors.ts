const LOADED = Symbol.for('nestjs-sql-queue:loaded-processors');

/** A class or method with @QueueProcessor(), in a file that this process has loaded. */
export interface LoadedProcessor {
  readonly queue: string;
  readonly instance: string;
  /** `Class` or `Class.method`. */
  readonly title: string;
}

// Global, because the ESM and CommonJS copies of the package share it. Names only, so that it keeps no class alive.
const loaded = ((globalThis as { [LOADED]?: Map<string, LoadedProcessor> })[LOADED] ??= new Map<
  string,
  LoadedProcessor
>());

/** Records a decorated class or method, whether or not a module provides it. */
export function recordProcessor(processor: LoadedProcessor): void {
  loaded.set(`${processor.instance}:${processor.title}:${processor.queue}`, processor);
}

export function loadedProcessors(instance = ''): LoadedProcessor[] {
  return [...loaded.values()].filter((processor) => processor.instance === instance);
}
