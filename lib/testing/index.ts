export { FakeQueueProducer, type RecordedJob, type RecordedMessage } from './fake-producer.js';
export { QueueHarness, type RanJob } from './harness.js';
export { InlineQueueProducer, type InlineHandler } from './inline-producer.js';
export { createJobContext } from './job-context.js';
