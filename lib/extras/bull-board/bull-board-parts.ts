import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { Clock } from '../../common/clock.js';
import type { Redactor } from '../dashboard/redactor.js';
import type { QueueSchedules } from '../../schedules/queue-schedules.js';
import type { QueueOverview } from './queue-overview.js';
import type { RequestUser } from './request-user.js';

/** The options of the board name the queue, so it is no misspelt name. */
export const MAY_CREATE = { create: true } as const;

/** The parts that the adapters of all queues share. */
export interface BullBoardParts {
  readonly admin: QueueAdmin;
  readonly schedules: QueueSchedules;
  readonly redactor: Redactor;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly overview: QueueOverview;
  readonly user: RequestUser;
}

/** Changes of the queue in the name of the user of the request. */
export function adminOf({ admin, user }: BullBoardParts): QueueAdmin {
  return admin.as(user.name);
}
