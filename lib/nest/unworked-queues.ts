import { didYouMean } from '../common/message-text.js';
import type { QueueOptions } from '../job/queue-options.js';
import { matchesAny } from '../job/queue-pattern.js';
import type { SqlQueueModuleOptions } from './module-options.js';

// These options only concern a worker that runs jobs. All others also concern producers or consumers.
const WORKER_ONLY_OPTIONS = [
  'concurrency',
  'prefetch',
  'timeout',
  'paused',
  'enabled',
] as const satisfies (keyof QueueOptions)[];

const LOADED = Symbol.for('nestjs-sql-queue:loaded-processors');

/** A class or method with @QueueProcessor(), in a file that this process has loaded. */
export interface LoadedProcessor {
  readonly queue: string;
  readonly instance: string;
  /** `Class` or `Class.method`. */
  readonly title: string;
}

// Global, because the ESM and CommonJS copies of the package share it. Names only, so that it keeps no class alive.
const allLoaded = ((globalThis as { [LOADED]?: Map<string, LoadedProcessor> })[LOADED] ??= new Map<
  string,
  LoadedProcessor
>());

/** Records a decorated class or method, whether or not a module provides it. */
export function recordProcessor(processor: LoadedProcessor): void {
  allLoaded.set(`${processor.instance}:${processor.title}:${processor.queue}`, processor);
}

/**
 * Warns about queues without a handler that this process is configured to work. A process may leave queues to other
 * processes, and may load handlers that it does not provide, so queues without such options cause no warning.
 *
 * @param worked queues with a handler
 * @param used queues that this process uses without a handler: those of forFeature(), and dead-letter queues
 */
export function unworkedQueues(
  options: SqlQueueModuleOptions,
  worked: readonly string[],
  used: readonly string[],
  instance = '',
): string[] {
  const loaded = loadedProcessors(instance);
  const { queues = {}, worker, unprovided } = options;
  const { include = [] } = (typeof worker === 'object' ? worker.queues : undefined) ?? {};
  const isExcluded = (queue: string) => isExcludedHere(options, queue);
  const isUnworked = (queue: string) => !queue.endsWith('*') && !worked.includes(queue);
  const missing = (queue: string) => `but this process has no handler for it${suggestionFor(queue, worked, loaded)}`;

  const included: string[] = include.filter(isUnworked);
  const configured = Object.entries(queues as Record<string, QueueOptions>).flatMap(([queue, given]) => {
    const option = WORKER_ONLY_OPTIONS.find((key) => given[key] !== undefined);
    const isExpected =
      !option || !isUnworked(queue) || used.includes(queue) || isExcluded(queue) || included.includes(queue);
    if (isExpected) return [];
    return [
      `queues["${queue}"] sets ${option}, ${missing(queue)} If another process works the queue, name it in ` +
        '`worker.queues.exclude` here.',
    ];
  });
  return [
    ...included.map((queue) => `worker.queues.include names "${queue}", ${missing(queue)}`),
    ...configured,
    ...(unprovided === 'ignore' ? [] : nothingWorked(worked, loaded)),
  ];
}

export function loadedProcessors(instance: string): LoadedProcessor[] {
  return [...allLoaded.values()].filter((processor) => processor.instance === instance);
}

/** Whether `worker.queues` leaves the queue to other processes. */
export function isExcludedHere({ worker }: SqlQueueModuleOptions, queue: string): boolean {
  const { include = [], exclude = [] } = (typeof worker === 'object' ? worker.queues : undefined) ?? {};
  return (include.length > 0 && !matchesAny(include, queue)) || matchesAny(exclude, queue);
}

function nothingWorked(worked: readonly string[], loaded: readonly LoadedProcessor[]): string[] {
  if (worked.length > 0 || loaded.length === 0) return [];
  const found = loaded.map(({ title, queue }) => `${title} (queue "${queue}")`).join(', ');
  return [
    `This process works no queue: no module provides ${found}. Add the classes to the \`providers\` of a module, or set ` +
      '`worker: false` if the process only produces.',
  ];
}

function suggestionFor(queue: string, worked: readonly string[], loaded: readonly LoadedProcessor[]): string {
  const processor = loaded.find((one) => one.queue === queue);
  if (!processor) return didYouMean(queue, worked) || '.';
  return `: no module provides ${processor.title}, so add its class to the \`providers\` of one.`;
}
