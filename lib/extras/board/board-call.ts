import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { MetricsPoint, MetricsStep } from '../../admin/read-history.js';
import type { QueueConsumer } from '../../consumer/queue-consumer.js';
import type { QueueSchedules } from '../../schedules/queue-schedules.js';
import type { BoardAccess } from './board-access.js';
import type { BoardInput } from './input.js';
import type { Redactor } from '../dashboard/redactor.js';
import type { DeadJobGroups } from './error-groups.js';
import type { SharedErrors } from './shared-errors.js';
import type { SharedRead } from './shared-read.js';
import type { Diagnosis } from '../../job/problems/diagnosis.js';
import type { QueueProblem } from '../../job/problems/queue-problem.js';
import type { WorkerRecord } from '../../store/admin/admin-store.js';
import type { Throughput } from './throughput.js';

/** What the reads and writes of the board work with. */
export interface BoardParts {
  readonly admin: QueueAdmin;
  readonly consumer: QueueConsumer;
  readonly schedules: QueueSchedules;
  readonly redactor: Redactor;
  readonly throughput: Throughput;
  /** For all viewers, as those below. */
  readonly problems: SharedRead<QueueProblem[]>;
  readonly workers: SharedRead<WorkerRecord[]>;
  readonly diagnoses: SharedRead<Diagnosis[]>;
  readonly errors: SharedErrors;
  readonly deadJobs: DeadJobGroups;
  /** The attempts of several queues together, for viewers with equal rights. */
  readonly history: SharedRead<MetricsPoint[], { readonly queues: readonly string[]; readonly step: MetricsStep }>;
}

/** One request that the guards have let in. */
export interface BoardCall extends BoardParts {
  readonly access: BoardAccess;
  readonly input: BoardInput;
}

export type BoardAction = (call: BoardCall) => Promise<object>;
