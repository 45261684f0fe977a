import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { QueueConsumer } from '../../consumer/queue-consumer.js';
import type { QueueSchedules } from '../../schedules/queue-schedules.js';
import type { BoardAccess } from './board-access.js';
import type { BoardInput } from './input.js';
import type { Redactor } from '../dashboard/redactor.js';
import type { Throughput } from './throughput.js';

/** What the reads and writes of the board work with. */
export interface BoardParts {
  readonly admin: QueueAdmin;
  readonly consumer: QueueConsumer;
  readonly schedules: QueueSchedules;
  readonly redactor: Redactor;
  readonly throughput: Throughput;
}

/** One request that the guards have let in. */
export interface BoardCall extends BoardParts {
  readonly access: BoardAccess;
  readonly input: BoardInput;
}

export type BoardAction = (call: BoardCall) => Promise<object>;
