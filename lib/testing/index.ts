export { FakeQueueProducer, type RecordedJob, type RecordedMessage } from './fake-producer.js';
export { QueueHarness, type RanJob } from './harness.js';
export { InlineQueueProducer, type InlineHandler, type InlineHandlers } from './inline-producer.js';
export { createJobContext } from './job-context.js';
