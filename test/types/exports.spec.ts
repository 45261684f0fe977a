import * as main from 'nestjs-sql-queue';
import * as testing from 'nestjs-sql-queue/testing';

// A name more or less is a promise more or less: the change belongs into the changelog.
describe('the public surface', () => {
  it('of nestjs-sql-queue is these names', () => {
    expect(Object.keys(main).sort()).toEqual([
      'DuplicateKeyError',
      'InjectQueue',
      'InvalidOptionsError',
      'JobCancelledError',
      'JobContext',
      'JobCtx',
      'JobFailedError',
      'JobFinishedError',
      'JobHandler',
      'JobHeader',
      'JobNotFoundError',
      'JobNotHeldError',
      'JobPayload',
      'JobSignal',
      'JobTimeoutError',
      'LeaseEndedError',
      'LeaseLostError',
      'OnQueueEvent',
      'PayloadInvalidError',
      'PayloadTooLargeError',
      'Queue',
      'QueueAdmin',
      'QueueConsumer',
      'QueueFullError',
      'QueueProcessor',
      'QueueProducer',
      'ResultNotKeptError',
      'SchemaOutOfDateError',
      'ShutdownError',
      'SqlQueueError',
      'SqlQueueModule',
      'SqlQueueRunner',
      'StoreUnavailableError',
      'UnknownQueueError',
      'UnrecoverableError',
      'UnsupportedDatabaseError',
      'WaitTimeoutError',
      'WorkerLostError',
      'getAdminToken',
      'getConsumerToken',
      'getProducerToken',
      'getQueueToken',
      'getRunnerToken',
      'sqlQueueArchiveEntity',
      'sqlQueueEntities',
      'sqlQueueMigrations',
    ]);
  });

  it('of nestjs-sql-queue/testing is these names', () => {
    expect(Object.keys(testing).sort()).toEqual([
      'FakeQueueProducer',
      'InlineQueueProducer',
      'QueueHarness',
      'createJobContext',
    ]);
  });

  it('has errors with a code of their own each', () => {
    const codes = [
      new main.DuplicateKeyError('q', 'k', 1, 'waiting'),
      new main.InvalidOptionsError('x', []),
      new main.JobCancelledError(1, 'q'),
      new main.JobFailedError(1, 'q', null),
      new main.JobFinishedError(1, 'q', 'dead'),
      new main.JobNotFoundError(1),
      new main.JobNotHeldError(1, 'q', 'worker'),
      new main.JobTimeoutError(1, 'q', 1),
      new main.LeaseEndedError('o'),
      new main.LeaseLostError(1, 'q'),
      new main.PayloadInvalidError('q', 'x'),
      new main.PayloadTooLargeError('q', 'payload', 2, 1),
      new main.QueueFullError('q', 1, 1),
      new main.ResultNotKeptError(1, 'q'),
      new main.SchemaOutOfDateError('x'),
      new main.ShutdownError(),
      new main.StoreUnavailableError('x', 'not-done'),
      new main.UnknownQueueError('q', []),
      new main.UnrecoverableError('x'),
      new main.UnsupportedDatabaseError('x'),
      new main.WaitTimeoutError(1, 1),
      new main.WorkerLostError('w'),
    ].map(({ code, name }) => `${name} ${code}`);

    expect(codes).toEqual([
      'DuplicateKeyError DUPLICATE_KEY',
      'InvalidOptionsError INVALID_OPTIONS',
      'JobCancelledError JOB_CANCELLED',
      'JobFailedError JOB_FAILED',
      'JobFinishedError JOB_FINISHED',
      'JobNotFoundError JOB_NOT_FOUND',
      'JobNotHeldError JOB_NOT_HELD',
      'JobTimeoutError JOB_TIMEOUT',
      'LeaseEndedError LEASE_ENDED',
      'LeaseLostError LEASE_LOST',
      'PayloadInvalidError PAYLOAD_INVALID',
      'PayloadTooLargeError PAYLOAD_TOO_LARGE',
      'QueueFullError QUEUE_FULL',
      'ResultNotKeptError RESULT_NOT_KEPT',
      'SchemaOutOfDateError SCHEMA_OUT_OF_DATE',
      'ShutdownError SHUTDOWN',
      'StoreUnavailableError STORE_UNAVAILABLE',
      'UnknownQueueError UNKNOWN_QUEUE',
      'UnrecoverableError UNRECOVERABLE',
      'UnsupportedDatabaseError UNSUPPORTED_DATABASE',
      'WaitTimeoutError WAIT_TIMEOUT',
      'WorkerLostError WORKER_LOST',
    ]);
  });
});
