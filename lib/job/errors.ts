export { SqlQueueError, hasCode } from './errors/sql-queue-error.js';
export {
  DuplicateKeyError,
  InvalidOptionsError,
  PayloadInvalidError,
  PayloadTooLargeError,
  QueueFullError,
  UnknownQueueError,
} from './errors/enqueue-errors.js';
export {
  JobCancelledError,
  JobExpiredError,
  JobTimeoutError,
  LeaseExpiredError,
  LeaseLostError,
  MalformedJobError,
  ShutdownError,
  TransactionLostError,
  UnrecoverableError,
  WorkerLostError,
} from './errors/run-errors.js';
export {
  JobFinishedError,
  JobNotAssignedError,
  JobNotFoundError,
  UnsafeJobIdError,
  type ClaimedBy,
} from './errors/job-errors.js';
export { ContentUnavailableError, UndecodableContentError, UnencodableContentError } from './errors/codec-errors.js';
export { DuplicateStepError, StepNotAllowedError } from './errors/step-errors.js';
export { FlowCycleError, FlowTooLargeError, PrerequisiteFailedError } from './errors/flow-errors.js';
export { ScheduleConflictError, ScheduleNotFoundError } from './errors/schedule-errors.js';
export { JobFailedError, ResultInvalidError, ResultNotKeptError, WaitTimeoutError } from './errors/wait-errors.js';
export {
  MissingPrivilegeError,
  SchemaOutOfDateError,
  StoreUnavailableError,
  UnsupportedDatabaseError,
} from './errors/database-errors.js';
