import type { OwnQueues } from '../admin/own-queues.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { NewSchedule } from '../job/schedules/schedule.js';
import { askEnabled } from '../job/settings/enabled.js';
import type { HandlerTable } from '../worker/run/handler-table.js';
import type { SqlQueueRunner } from '../worker/sql-queue-runner.js';
import type { QueueSettings } from './queue-settings.js';

interface Declarations {
  readonly settings: QueueSettings;
  readonly handlers: HandlerTable;
  readonly runner: Pick<SqlQueueRunner, 'queues' | 'isPaused'>;
  readonly subscriptions: ReadonlyMap<string, unknown>;
  readonly schedules: ReadonlyMap<string, Pick<NewSchedule, 'job'>>;
}

export const NO_OWN_QUEUES: OwnQueues = {
  ...{ declared: () => [], hasHandler: () => false, isWorked: () => false },
  closedBy: () => undefined,
};

export function ownQueuesOf({ settings, handlers, runner, subscriptions, schedules }: Declarations): OwnQueues {
  return {
    declared: () => [
      ...new Set([
        ...settings.names,
        ...handlers.queues,
        ...subscriptions.keys(),
        ...[...schedules.values()].map(({ job }) => job.queue),
      ]),
    ],
    hasHandler: (queue, name) =>
      name === undefined ? handlers.queues.includes(queue) : handlers.find(queue, name) !== undefined,
    isWorked: (queue) => runner.queues.includes(queue),
    closedBy: (queue) => {
      if (!runner.queues.includes(queue)) return undefined;
      if (runner.isPaused(queue)) return 'pause';
      return isDisabled(settings.of(queue)) ? 'enabled' : undefined;
    },
  };
}

/** If the function fails, its worker logs a warning. */
function isDisabled({ enabled }: ResolvedQueueOptions): boolean {
  try {
    return enabled ? !askEnabled(enabled) : false;
  } catch {
    return false;
  }
}
