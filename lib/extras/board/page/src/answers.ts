import type { BulkVerb } from '../../../../job/changed-states.js';
import type { JobPreview } from '../../../../admin/preview-jobs.js';
import type { MetricsPoint } from '../../../../admin/read-history.js';
import type { FlowNode, FlowRecord, FlowSummary } from '../../../../job/flows/flow-record.js';
import type { JobExplanation } from '../../../../job/explain/job-reason.js';
import type { QueueProblem } from '../../../../job/problems/queue-problem.js';
import type { Diagnosis } from '../../../../job/problems/diagnosis.js';
import type { WorkerQueue, WorkerRecord } from '../../../../store/admin/admin-store.js';
import type { AuditRecord } from '../../../../store/features/audit/audit-store.js';
import type { GroupRecord } from '../../../../store/features/groups/group-store.js';
import type { SubscriptionRecord } from '../../../../store/features/queues/queue-store.js';
import type { SignalRecord, WaitRecord } from '../../../../store/features/steps/step-store.js';
import type { JobCount } from '../../../../store/features/stats/stats-store.js';
import type { ShownValue } from '../../../dashboard/redactor.js';
import type { ReadableQueue } from '../../board-queues.js';
import type { BoardVerb } from '../../board-verbs.js';
import type { DeadGroup, DeadGroups } from '../../dead-groups.js';
import type { DeadJobGroups } from '../../error-groups.js';
import type { assignedRow, jobDetails, jobRow } from '../../job-views.js';
import type { readLogs, readRelatives, readSteps } from '../../read-job.js';
import type { readPastTicks, readSchedules } from '../../read-schedules.js';
import type { ErrorList as CountedErrors, ErrorRange, ShownErrors } from '../../shared-errors.js';
import type { Throughput } from '../../throughput.js';

/** A value of the server after its way as JSON. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Key in keyof T]: Wire<T[Key]> }
      : T;

export type Verb = BoardVerb;
export type Count = JobCount;
export type Shown = ShownValue;
export type Queue = Wire<ReadableQueue>;
export type Problem = Wire<QueueProblem>;
export type { Diagnosis };
export type Point = Wire<MetricsPoint>;
export type Line = Wire<Awaited<ReturnType<Throughput['lastHour']>>>[number];
export type JobRow = Wire<ReturnType<typeof jobRow>>;
export type AssignedRow = Wire<ReturnType<typeof assignedRow>>;
export type Job = Wire<ReturnType<typeof jobDetails>>;
export type JobError = NonNullable<JobRow['error']>;
export type Logs = Wire<Awaited<ReturnType<typeof readLogs>>>;
export type Steps = Wire<Awaited<ReturnType<typeof readSteps>>>;
export type Relatives = Wire<Awaited<ReturnType<typeof readRelatives>>>;
export type Reason = Wire<JobExplanation>['reasons'][number];
export type Flow = Wire<FlowRecord>;
export type FlowJob = Wire<FlowNode>;
export type FlowRow = Wire<FlowSummary>;
export type WaitRow = Wire<WaitRecord>;
export type SignalRow = Wire<SignalRecord>;
export type Worker = Wire<WorkerRecord>;
export type { ErrorRange, WorkerQueue };
export type Group = Wire<GroupRecord>;
export type Schedule = Wire<Awaited<ReturnType<typeof readSchedules>>>['schedules'][number];
export type PastTicks = Wire<Awaited<ReturnType<typeof readPastTicks>>>;
export type Subscription = Wire<SubscriptionRecord>;
export type AuditEntry = Wire<AuditRecord>;
/** The failed attempts of a queue with one error. */
export type ErrorCount = Wire<ShownErrors>;
/** The jobs of a queue that died of one error. `hasMore`: the queue has more dead jobs than those that were examined. */
export type DeadJobs = Wire<DeadGroup> & { queue: string; hasMore: boolean };
export type DeadJobsOfAll = Wire<Awaited<ReturnType<DeadJobGroups['read']>>>;
export type DeadJobsOfQueue = Wire<DeadGroups>;
/** `hasMore`: there are further errors, with fewer failed attempts. */
export type ErrorList = Wire<CountedErrors>;

/** The answer of a dry run. `left`: the selected jobs that are no longer in the state of the list, by their state. */
export type Preview = Wire<JobPreview> & { readonly left: Readonly<Record<string, number>> };

export interface Rights {
  readonly verbs: readonly Verb[];
  readonly isReadOnly: boolean;
  readonly user: string | null;
  /** The states of the jobs that each verb changes; undefined before the first answer. */
  readonly changes?: Readonly<Record<BulkVerb, readonly string[]>> | undefined;
}

/** `queues`: the verbs in each queue that was asked for. */
export type RightsAnswer = Rights & { readonly queues: Readonly<Record<string, readonly Verb[]>> };

/** A part of a list. `next` is the `after` of the next part. */
export type Page<Name extends string, Item> = { [Key in Name]: Item[] } & { next: string | null };
