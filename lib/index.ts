export { QueueAdmin } from './admin/queue-admin.js';
export type { AllQueues } from './admin/pause-queues.js';
export type { Erasure } from './admin/erase.js';
export type { AllJobs, JobSelection } from './admin/job-selection.js';
export type { ObliterateOptions } from './admin/obliterate-queue.js';
export type { MayCreateQueue, QueueChangeOptions, QueueLimitOptions } from './admin/require-queue.js';
export type { AuditPage } from './admin/list-audit.js';
export type { FlowPage, RelativesOptions, SignalFilter, SignalPage, StepPage, WaitPage } from './admin/flow-admin.js';
export type { AuditHook } from './audit/audit-trail.js';
export type { AssignOptions, ClaimOptions } from './consumer/claim-options.js';
export type { FailOptions } from './consumer/fail-options.js';
export type { AssignedJob } from './consumer/assigned-job.js';
export type { ClaimHolder } from './consumer/claim-holder.js';
export { QueueConsumer } from './consumer/queue-consumer.js';
export type { SnoozeOptions } from './consumer/snooze-options.js';
export type { AssignmentTransaction } from './consumer/transaction-option.js';
export type { CodeScheduleOptions, NamedQueueOptions, QueueOptionsByName } from './engine/engine-options.js';
export type { ByteSize } from './common/units.js';
export { aesGcm, type AesGcmOptions, type AesKey } from './extras/codecs/aes-gcm.js';
export type { BlobCallOptions, BlobOptions, BlobPutOptions, BlobStore } from './job/codec/blob-options.js';
export { fileBlobs, type FileBlobsOptions } from './extras/codecs/file-blobs.js';
export type { CodecOption } from './job/codec/codec-options.js';
export { compress, type CompressOptions } from './extras/codecs/compress.js';
export {
  isEnvelope,
  readEnvelope,
  toEnvelope,
  type CodecContent,
  type CodecContext,
  type Envelope,
  type PayloadCodec,
} from './job/codec/payload-codec.js';
export type { RekeyCount } from './store/features/content/content-store.js';
export type { UndecodableContent } from './store/codec/stored-content.js';
export type { BackoffOptions } from './job/backoff-options.js';
export type { Backoff } from './job/backoff.js';
export type { ContextPropagation } from './job/context-propagation.js';
export type { EnqueueOptions, JobRetryOptions } from './job/enqueue-options.js';
export {
  ContentUnavailableError,
  DuplicateKeyError,
  DuplicateStepError,
  FlowCycleError,
  FlowTooLargeError,
  InvalidOptionsError,
  JobCancelledError,
  JobExpiredError,
  JobFailedError,
  JobFinishedError,
  JobNotFoundError,
  QueueNotFoundError,
  JobNotAssignedError,
  JobTimeoutError,
  LeaseExpiredError,
  LeaseLostError,
  MalformedJobError,
  MissingPrivilegeError,
  PayloadInvalidError,
  PayloadTooLargeError,
  PrerequisiteFailedError,
  QueueFullError,
  ResultInvalidError,
  ResultNotKeptError,
  ScheduleConflictError,
  ScheduleNotFoundError,
  SchemaOutOfDateError,
  ShutdownError,
  SqlQueueError,
  StepNotAllowedError,
  StoreUnavailableError,
  TransactionLostError,
  UndecodableContentError,
  UnencodableContentError,
  UnknownQueueError,
  UnsafeJobIdError,
  UnrecoverableError,
  UnsupportedDatabaseError,
  WaitTimeoutError,
  WorkerLostError,
  type ClaimedBy,
} from './job/errors.js';
export type { FanOutOptions } from './job/flows/flow-options.js';
export type {
  FlowChild,
  FlowFilter,
  FlowNode,
  FlowRecord,
  FlowState,
  FlowSummary,
  JobRelatives,
  RelatedJob,
  RelatedJobs,
} from './job/flows/flow-record.js';
export type { OnFailure } from './job/flows/flow.js';
export type { AttemptError } from './job/stored-error.js';
export type { FailedJob } from './job/failed-job.js';
export type { JobRecord } from './job/job.js';
export type { PageOptions, PageOrder } from './job/page-options.js';
export type { KeyConflict, KeyOptions, KeyUntil } from './job/job-key.js';
export type { JobPreview, PreviewOptions, SkipReason } from './admin/preview-jobs.js';
export type { FlowSelection } from './admin/flow-actions.js';
export type { GroupPage, GroupPageOptions, QueueGroup } from './admin/queue-group.js';
export type { GroupLimitChange, GroupOptions } from './job/groups/group-options.js';
export type { GroupCounts, GroupRecord, GroupStatus } from './store/features/groups/group-store.js';
export type { LimitChange, RateOptions } from './job/limits/limit-options.js';
export type { EnabledTimes } from './job/settings/enabled.js';
export type { SignalRecord, StepRecord, WaitFilter, WaitRecord } from './store/features/steps/step-store.js';
export type { QueueConfiguration, QueueSettingsRecord } from './job/settings/queue-configuration.js';
export type { JobExplanation, JobReason } from './job/explain/job-reason.js';
export type { Diagnosis, DiagnosisCheck, DiagnosisLevel } from './job/problems/diagnosis.js';
export type { ProblemAction, ProblemRule, QueueProblem } from './job/problems/queue-problem.js';
export type { JobState } from './job/job-state.js';
export type { ProcessorOptions } from './job/processor-options.js';
export type { JobDefaults, QueueOptions } from './job/queue-options.js';
export type { RetentionOptions } from './job/retention-options.js';
export type { RetryOptions } from './job/retry-options.js';
export type { DuplicateOptions, JobUpdate } from './admin/edit-job.js';
export type { AdminEnqueueOptions } from './admin/enqueue-job.js';
export type { ChangeOptions, JobChangeOptions, JobReplayOptions, OwnTransaction } from './admin/in-transaction.js';
export type { BulkOptions } from './job/bulk-options.js';
export type { BulkVerb } from './job/changed-states.js';
export type { StatsOptions } from './admin/read-stats.js';
export type { ErrorsOptions, QueueError } from './admin/list-errors.js';
export type { HistoryOptions, MetricsPoint, MetricsStep, Percentiles } from './admin/read-history.js';
export type {
  AttemptOfJob,
  DatabaseCall,
  EndedAttempt,
  EndedRun,
  HandlerRun,
  JobOfRun,
  QueueInstrumentation,
  Sending,
  SentJob,
  SentJobResult,
} from './job/instrumentation.js';
export type { ReplayKind, ReplayOptions, ReplayRate } from './job/replay-options.js';
export type { SignalOptions } from './job/signal.js';
export type { SnoozeUntil } from './job/snooze.js';
export type { JobSchedule } from './job/schedules/job-schedule.js';
export type { ScheduledJobOptions, ScheduleOptions, ScheduleTimes } from './job/schedules/schedule-options.js';
export type { StandardSchemaV1 } from './job/standard-schema.js';
export type { StoredError } from './job/stored-error.js';
export type { HeaderFilter, SubscriptionOptions } from './job/topics.js';
export type { WaitOptions } from './job/wait-options.js';
export type { ConnectionRetryOptions, QueueConnection } from './nest/connection-options.js';
export type { FeatureQueue } from './nest/feature-queues.js';
export { InjectQueue, JobHandler, OnQueueEvent, QueueProcessor, Schedule } from './nest/decorators.js';
export type { SqlQueueModuleOptions, StaticOptions } from './nest/module-options.js';
export { JobCtx, JobHeader, JobPayload, JobSignal } from './nest/parameters.js';
export { SqlQueueModule, type SqlQueueAsyncOptions, type SqlQueueOptionsFactory } from './nest/sql-queue.module.js';
export {
  getAdminToken,
  getConsumerToken,
  getProducerToken,
  getQueueToken,
  getRunnerToken,
  getSchedulesToken,
} from './nest/tokens.js';
export type { PayloadOf, QueueJobs, QueueName, QueuePattern, ResultOf } from './job/queue-jobs.js';
export type {
  EnqueuedJob,
  EnqueueStatement,
  InTransaction,
  JobOfQueue,
  JobToEnqueue,
  RequestOptions,
  StatementOptions,
} from './producer/enqueued-job.js';
export { QueueSchedules, type ScheduleDefinition, type ScheduleTransaction } from './schedules/queue-schedules.js';
export type { ScheduleRecord } from './store/features/schedules/schedule-store.js';
export type { EnqueuedFlow, FlowBuilder, FlowJob, FlowJobOptions } from './producer/flow-builder.js';
export { QueueProducer } from './producer/queue-producer.js';
export { Queue } from './nest/queue.js';
export type { HandedOffJob } from './worker/run/handler-actions.js';
export { JobContext } from './worker/run/job-context.js';
export type { JobLogger, LogParams } from './common/logger.js';
export type { LogFormat } from './nest/nest-job-logger.js';
export type { QueueEvent, QueueEventName } from './job/queue-event.js';
export type { UnregisterHandler, RuntimeHandler } from './worker/run/handler-table.js';
export type { RunnerHealth, RunnerState } from './worker/runner-health.js';
export { SqlQueueRunner } from './worker/sql-queue-runner.js';
export type { QueueOccupancy } from './worker/queue/plan.js';
export type { WorkerOptions } from './worker/worker-options.js';
export type {
  JobCounts,
  JobFilter,
  JobPage,
  LogLine,
  LogPage,
  StateOfJob,
  WorkerQueue,
  WorkerRecord,
} from './store/admin/admin-store.js';
export type { QueueRecord, SubscriptionRecord } from './store/features/queues/queue-store.js';
export type { AuditFilter, AuditRecord, AuditVerb } from './store/features/audit/audit-store.js';
export type { JobCount, QueueStats } from './store/features/stats/stats-store.js';
export type { AssignedJobPage, AssignedJobRecord } from './store/features/people/consumer-store.js';
export type { ArchiveOptions } from './store/tables/archive-options.js';
export { sqlQueueArchiveEntity, sqlQueueEntities } from './store/tables/entities.js';
export type { SqlQueueHistoryRow, SqlQueueJobRow } from './store/tables/job-tables.js';
export type { CallerTransaction } from './store/verbs/job-store.js';
export { sqlQueueMigrations } from './store/databases/typeorm-migrations.js';
export type { Duration } from './common/units.js';
