export { FakeQueueProducer, type RecordedJob, type RecordedMessage } from './fake-queue-producer.js';
export { QueueHarness, type RanJob } from './queue-harness.js';
export { InlineQueueProducer, type InlineHandler, type InlineHandlers } from './inline-queue-producer.js';
export { createJobContext } from './create-job-context.js';
