import * as main from 'nestjs-sql-queue';
import * as board from 'nestjs-sql-queue/board';
import * as bullBoard from 'nestjs-sql-queue/bull-board';
import * as eslintPlugin from 'nestjs-sql-queue/eslint-plugin';
import * as otel from 'nestjs-sql-queue/otel';
import * as prometheus from 'nestjs-sql-queue/prometheus';
import * as terminus from 'nestjs-sql-queue/terminus';
import * as testing from 'nestjs-sql-queue/testing';

// Each exported name is a promise. A change belongs into the changelog.
describe('the public surface', () => {
  it('of nestjs-sql-queue consists of these names', () => {
    expect(Object.keys(main).sort()).toEqual([
      'ContentUnavailableError',
      'DuplicateKeyError',
      'DuplicateStepError',
      'FlowCycleError',
      'FlowTooLargeError',
      'InjectQueue',
      'InvalidOptionsError',
      'JobCancelledError',
      'JobContext',
      'JobCtx',
      'JobExpiredError',
      'JobFailedError',
      'JobFinishedError',
      'JobHandler',
      'JobHeader',
      'JobNotAssignedError',
      'JobNotFoundError',
      'JobPayload',
      'JobSignal',
      'JobTimeoutError',
      'LeaseExpiredError',
      'LeaseLostError',
      'MalformedJobError',
      'MissingPrivilegeError',
      'OnQueueEvent',
      'PayloadInvalidError',
      'PayloadTooLargeError',
      'PrerequisiteFailedError',
      'Queue',
      'QueueAdmin',
      'QueueConsumer',
      'QueueFullError',
      'QueueNotFoundError',
      'QueueProcessor',
      'QueueProducer',
      'QueueSchedules',
      'ResultInvalidError',
      'ResultNotKeptError',
      'Schedule',
      'ScheduleConflictError',
      'ScheduleNotFoundError',
      'SchemaOutOfDateError',
      'ShutdownError',
      'SqlQueueError',
      'SqlQueueModule',
      'SqlQueueRunner',
      'StepNotAllowedError',
      'StoreUnavailableError',
      'TransactionLostError',
      'UndecodableContentError',
      'UnencodableContentError',
      'UnknownQueueError',
      'UnrecoverableError',
      'UnsafeJobIdError',
      'UnsupportedDatabaseError',
      'WaitTimeoutError',
      'WorkerLostError',
      'aesGcm',
      'compress',
      'fileBlobs',
      'getAdminToken',
      'getConsumerToken',
      'getProducerToken',
      'getQueueToken',
      'getRunnerToken',
      'getSchedulesToken',
      'isEnvelope',
      'readEnvelope',
      'sqlQueueArchiveEntity',
      'sqlQueueEntities',
      'sqlQueueMigrations',
      'toEnvelope',
    ]);
  });

  it('of nestjs-sql-queue/otel consists of these names', () => {
    expect(Object.keys(otel)).toEqual(['OpenTelemetryInstrumentation']);
  });

  it('of nestjs-sql-queue/testing consists of these names', () => {
    expect(Object.keys(testing).sort()).toEqual([
      'FakeQueueProducer',
      'InlineQueueProducer',
      'QueueHarness',
      'createJobContext',
    ]);
  });

  it('of nestjs-sql-queue/prometheus consists of these names', () => {
    expect(Object.keys(prometheus).sort()).toEqual(['SqlQueuePrometheusModule', 'registerQueueMetrics']);
  });

  it('of nestjs-sql-queue/terminus consists of these names', () => {
    expect(Object.keys(terminus).sort()).toEqual([
      'SqlQueueHealthIndicator',
      'SqlQueueTerminusModule',
      'getHealthIndicatorToken',
    ]);
  });

  it('of nestjs-sql-queue/board consists of these names', () => {
    expect(Object.keys(board)).toEqual(['SqlQueueBoardModule']);
  });

  it('of nestjs-sql-queue/bull-board consists of these names', () => {
    expect(Object.keys(bullBoard)).toEqual(['SqlQueueBullBoardModule']);
  });

  it('of nestjs-sql-queue/eslint-plugin consists of these names', () => {
    expect(Object.keys(eslintPlugin).sort()).toEqual(['configs', 'default', 'meta', 'rules']);
  });

  it('has errors with a distinct code each', () => {
    const errors = [
      new main.ContentUnavailableError('x'),
      new main.DuplicateKeyError('q', 'k', 1, 'waiting'),
      new main.DuplicateStepError(1, 'q', 's'),
      new main.FlowCycleError(['a', 'a']),
      new main.FlowTooLargeError('jobs', 2, 1),
      new main.InvalidOptionsError('x', []),
      new main.JobCancelledError(1, 'q'),
      new main.JobExpiredError(1, 'q'),
      new main.JobFailedError(1, 'q', null),
      new main.JobFinishedError(1, 'q', 'dead'),
      new main.JobNotFoundError(1),
      new main.JobNotAssignedError(1, 'q', 'worker'),
      new main.JobTimeoutError(1, 'q', 1),
      new main.LeaseExpiredError('o'),
      new main.LeaseLostError(1, 'q'),
      new main.MalformedJobError(1, 'q', 'c', 'x'),
      new main.MissingPrivilegeError('x'),
      new main.PayloadInvalidError('q', 'x'),
      new main.PayloadTooLargeError('q', 'payload', 2, 1),
      new main.PrerequisiteFailedError(1, 'q', 2),
      new main.QueueFullError('q', 1, 1),
      new main.QueueNotFoundError('q', [], ''),
      new main.ResultInvalidError(1, 'q', 'x'),
      new main.ResultNotKeptError(1, 'q'),
      new main.ScheduleConflictError(['x'], 'code'),
      new main.ScheduleNotFoundError('x'),
      new main.SchemaOutOfDateError('x'),
      new main.ShutdownError(),
      new main.StepNotAllowedError(1, 'q', 's'),
      new main.StoreUnavailableError('x', 'not-done'),
      new main.TransactionLostError(1, 'q'),
      new main.UndecodableContentError('x', null, 'x'),
      new main.UnencodableContentError('x', 'x'),
      new main.UnknownQueueError('q', []),
      new main.UnsafeJobIdError(1),
      new main.UnrecoverableError('x'),
      new main.UnsupportedDatabaseError('x'),
      new main.WaitTimeoutError(1, 1),
      new main.WorkerLostError('w'),
    ];

    const exported = Object.keys(main).filter((name) => name.endsWith('Error') && name !== 'SqlQueueError');
    expect(errors.map(({ name }) => name).sort()).toEqual(exported.sort());
    expect(errors.map(({ code, name }) => `${name} ${code}`)).toEqual([
      'ContentUnavailableError CONTENT_UNAVAILABLE',
      'DuplicateKeyError DUPLICATE_KEY',
      'DuplicateStepError DUPLICATE_STEP',
      'FlowCycleError FLOW_CYCLE',
      'FlowTooLargeError FLOW_TOO_LARGE',
      'InvalidOptionsError INVALID_OPTIONS',
      'JobCancelledError JOB_CANCELLED',
      'JobExpiredError JOB_EXPIRED',
      'JobFailedError JOB_FAILED',
      'JobFinishedError JOB_FINISHED',
      'JobNotFoundError JOB_NOT_FOUND',
      'JobNotAssignedError JOB_NOT_ASSIGNED',
      'JobTimeoutError JOB_TIMEOUT',
      'LeaseExpiredError LEASE_EXPIRED',
      'LeaseLostError LEASE_LOST',
      'MalformedJobError MALFORMED_JOB',
      'MissingPrivilegeError MISSING_PRIVILEGE',
      'PayloadInvalidError PAYLOAD_INVALID',
      'PayloadTooLargeError PAYLOAD_TOO_LARGE',
      'PrerequisiteFailedError PREREQUISITE_FAILED',
      'QueueFullError QUEUE_FULL',
      'QueueNotFoundError QUEUE_NOT_FOUND',
      'ResultInvalidError RESULT_INVALID',
      'ResultNotKeptError RESULT_NOT_KEPT',
      'ScheduleConflictError SCHEDULE_CONFLICT',
      'ScheduleNotFoundError SCHEDULE_NOT_FOUND',
      'SchemaOutOfDateError SCHEMA_OUT_OF_DATE',
      'ShutdownError SHUTDOWN',
      'StepNotAllowedError STEP_NOT_ALLOWED',
      'StoreUnavailableError STORE_UNAVAILABLE',
      'TransactionLostError TRANSACTION_LOST',
      'UndecodableContentError UNDECODABLE_CONTENT',
      'UnencodableContentError UNENCODABLE_CONTENT',
      'UnknownQueueError UNKNOWN_QUEUE',
      'UnsafeJobIdError UNSAFE_JOB_ID',
      'UnrecoverableError UNRECOVERABLE',
      'UnsupportedDatabaseError UNSUPPORTED_DATABASE',
      'WaitTimeoutError WAIT_TIMEOUT',
      'WorkerLostError WORKER_LOST',
    ]);
  });
});
