import { didYouMean } from '../job/expectation.js';
import type { QueueOptions } from '../job/queue-options.js';
import { matchesAny } from '../job/queue-pattern.js';
import type { LoadedProcessor } from './loaded-processors.js';
import type { SqlQueueModuleOptions } from './module-options.js';

// They say how a worker runs jobs. The others also mean something to producers, and to people who work a queue.
const OF_WORKERS = ['concurrency', 'prefetch', 'timeout', 'paused'] as const satisfies (keyof QueueOptions)[];

export interface QueuesOfProcess {
  /** Those with a handler. */
  readonly worked: readonly string[];
  /** Those that this process uses without a handler: handles of forFeature(), and dead-letter queues. */
  readonly used: readonly string[];
  /** What is decorated in the files that this process has loaded. */
  readonly loaded: readonly LoadedProcessor[];
}

/**
 * Warnings about queues that this process seems to work and has no handler for. A process may well leave queues to others, or load
 * handlers that it does not provide, so nothing is said of a queue that its options do not mention as one it works.
 */
export function unworkedQueues(options: SqlQueueModuleOptions, { worked, used, loaded }: QueuesOfProcess): string[] {
  const { queues = {}, worker } = options;
  const { include = [], exclude = [] } = (typeof worker === 'object' ? worker.queues : undefined) ?? {};
  const isLeftOut = (queue: string) =>
    (include.length > 0 && !matchesAny(include, queue)) || matchesAny(exclude, queue);
  const isUnworked = (queue: string) => !queue.endsWith('*') && !worked.includes(queue);
  const missing = (queue: string) => `but this process has no handler for it${wayOut(queue, worked, loaded)}`;

  const included: string[] = include.filter(isUnworked);
  const configured = Object.entries(queues as Record<string, QueueOptions>).flatMap(([queue, given]) => {
    const option = OF_WORKERS.find((key) => given[key] !== undefined);
    const isFine =
      !option || !isUnworked(queue) || used.includes(queue) || isLeftOut(queue) || included.includes(queue);
    if (isFine) return [];
    return [
      `queues["${queue}"] sets ${option}, ${missing(queue)} If another process works the queue, name it in ` +
        '`worker.queues.exclude` here.',
    ];
  });
  return [
    ...included.map((queue) => `worker.queues.include names "${queue}", ${missing(queue)}`),
    ...configured,
    ...nothingWorked(worked, loaded),
  ];
}

function nothingWorked(worked: readonly string[], loaded: readonly LoadedProcessor[]): string[] {
  if (worked.length > 0 || loaded.length === 0) return [];
  const found = loaded.map(({ title, queue }) => `${title} (queue "${queue}")`).join(', ');
  return [
    `This process works no queue: no module provides ${found}. Add the classes to the \`providers\` of a module, or set ` +
      '`worker: false` if the process only produces.',
  ];
}

function wayOut(queue: string, worked: readonly string[], loaded: readonly LoadedProcessor[]): string {
  const processor = loaded.find((one) => one.queue === queue);
  if (!processor) return didYouMean(queue, worked) || '.';
  return `: no module provides ${processor.title}, so add its class to the \`providers\` of one.`;
}
