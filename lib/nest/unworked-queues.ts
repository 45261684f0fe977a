import { didYouMean } from '../common/message-text.js';
import { isName } from '../job/identifiers.js';
import type { QueueOptions } from '../job/queue-options.js';
import { isWorkedHere } from '../job/queue-pattern.js';
import { classOf, isProvided, loadedListeners, loadedProcessors, type LoadedProcessor } from './loaded-classes.js';
import type { SqlQueueModuleOptions } from './module-options.js';

// These options only concern a worker that runs jobs. All others also concern producers or consumers.
const WORKER_ONLY_OPTIONS = [
  'concurrency',
  'prefetch',
  'timeout',
  'paused',
  'enabled',
] as const satisfies (keyof QueueOptions)[];

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
  return loadedListeners(instance)
    .filter(({ title }) => !isProvided(title) && !handling.has(classOf(title)))
    .map(({ title, decorator }) => `${title} (${decorator})`);
}

export function unprovidedWarning(all: readonly string[]): string {
  return (
    `No module provides ${all.join(', ')}, so this process never calls it. Add the class to the \`providers\` of a module. If ` +
    "another process works its queue, name that in `worker.queues.exclude` here, or set `unprovided: 'ignore'`."
  );
}

/** Whether `worker.queues` leaves the queue to other processes. */
function isExcludedHere({ worker }: SqlQueueModuleOptions, queue: string): boolean {
  return typeof worker === 'object' && !isWorkedHere(worker.queues ?? {}, queue);
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
