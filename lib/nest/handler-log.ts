import type { QueueSettings } from '../engine/queue-settings.js';
import { matchesAny } from '../job/queue-pattern.js';
import type { Subscription } from '../job/topics.js';
import type { FoundHandler } from './explorer.js';
import type { SqlQueueModuleOptions } from './module-options.js';

interface HandlerLogParts {
  readonly settings: QueueSettings;
  readonly subscriptions: ReadonlyMap<string, readonly Subscription[]>;
  readonly options: SqlQueueModuleOptions;
}

/** The boot log of the handlers: how each one runs here, or why it does not. One line if none does. */
export function handlerLines(handlers: readonly FoundHandler[], parts: HandlerLogParts): string[] {
  const found = handlers.map((handler) => ({ handler, obstacle: obstacleOf(handler.queue, parts.options) }));
  const obstacles = new Set(found.map(({ obstacle }) => obstacle));
  const [only] = obstacles;
  if (obstacles.size === 1 && only !== undefined) {
    const all = handlers.map(nameOf).join(', ');
    return [`This process works no queue, ${only}. Its handlers do not run here: ${all}.`];
  }
  return found.map(({ handler, obstacle }) =>
    obstacle === undefined
      ? `${nameOf(handler)}: ${runOf(handler, parts)}`
      : `${nameOf(handler)}: does not run here, ${obstacle}`,
  );
}

/** Why this process does not work the queue. Undefined: it does. */
function obstacleOf(queue: string, { worker }: SqlQueueModuleOptions): string | undefined {
  if (worker === false) return 'because of `worker: false`';
  const { include, exclude = [] } = (typeof worker === 'object' ? worker.queues : undefined) ?? {};
  if (matchesAny(exclude, queue)) return 'because of `worker.queues.exclude`';
  return include && !matchesAny(include, queue) ? 'because `worker.queues.include` does not name its queue' : undefined;
}

function runOf({ queue, batch }: FoundHandler, { settings, subscriptions, options }: HandlerLogParts): string {
  const { concurrency, retry, leaseMs, paused } = settings.of(queue);
  const topics = subscriptions.get(queue)?.map(({ topic }) => topic) ?? [];
  const startsManually = typeof options.worker === 'object' && options.worker.autoStart === false;
  return [
    `concurrency ${concurrency}`,
    ...(batch ? [`batches of ${batch}`] : []),
    retry.attempts === 1 ? '1 attempt' : `${retry.attempts} attempts`,
    `lease ${leaseMs / 1_000} s`,
    ...(topics.length > 0 ? [`copies of ${topics.join(', ')}`] : []),
    ...(startsManually ? ['waits for SqlQueueRunner.start()'] : []),
    ...(paused ? [`paused until SqlQueueRunner.resume('${queue}')`] : []),
  ].join(', ');
}

function nameOf({ queue, name, title }: FoundHandler): string {
  return `${name === undefined ? queue : `${queue} (${name})`} → ${title}`;
}
