import type { ContentCodec } from '../../job/codec/content-codec.js';
import type { AdminStore } from '../admin/admin-store.js';
import type { FlowStore } from '../features/flows/flow-store.js';
import type { OpenStore } from '../open-store.js';
import type { EventStore, RecordedEvent } from '../features/events/event-store.js';
import type { MetricsStore } from '../features/metrics/metrics-store.js';
import type { StepStore } from '../features/steps/step-store.js';
import type { WaitStore } from '../features/waits/wait-store.js';
import type { ScheduleRecord, ScheduleStore } from '../features/schedules/schedule-store.js';
import { decodingConsumerStore } from './decode-assignments.js';
import { encodingJobStore } from './encode-completions.js';
import { encodingJobLogStore } from './encode-job-logs.js';
import { StoredContent } from './stored-content.js';

/**
 * The ports with a codec around them. Claimed jobs keep their encoded payloads until they start, so that the history and
 * dead letters receive the stored text.
 */
export function withCodec(stores: OpenStore, codec: ContentCodec): OpenStore {
  const content = new StoredContent(codec);
  return {
    ...stores,
    jobs: encodingJobStore(stores.jobs, content),
    admin: decodingAdminStore(stores.admin, content),
    metrics: decodingMetricsStore(stores.metrics, content),
    consumer: decodingConsumerStore(stores.consumer, content, codec),
    waits: decodingWaitStore(stores.waits, content),
    jobLogs: encodingJobLogStore(stores.jobLogs, content, codec),
    events: decodingEventStore(stores.events, content),
    schedules: decodingScheduleStore(stores.schedules, content),
    flows: decodingFlowStore(stores.flows, content),
    steps: decodingStepStore(stores.steps, content),
  };
}

function decodingAdminStore(store: AdminStore, content: StoredContent): AdminStore {
  return {
    ...store,
    get: async (...args) => {
      const job = await store.get(...args);
      return job && content.decodeRecord(job);
    },
    find: async (search, page) => {
      const found = await store.find(search, page);
      return { ...found, jobs: await content.decodeRecords(found.jobs) };
    },
    logs: async (id, page) => {
      const lines = await store.logs(id, page);
      return Promise.all(lines.map(async (line) => ({ ...line, line: await content.decodeText(line.line, 'log') })));
    },
  };
}

function decodingMetricsStore(store: MetricsStore, content: StoredContent): MetricsStore {
  return {
    ...store,
    readErrors: async (search) =>
      Promise.all(
        (await store.readErrors(search)).map(async (one) => ({
          ...one,
          example: await content.decodeError(one.example, { queue: one.queue }),
        })),
      ),
  };
}

function decodingWaitStore(store: WaitStore, content: StoredContent): WaitStore {
  return {
    ...store,
    readJobs: async (ids) => {
      const jobs = [...(await store.readJobs(ids))];
      return new Map(
        await Promise.all(
          jobs.map(async ([id, { result, error, ...job }]) => {
            const { queue } = job;
            const decoded = await content.decodeResult(result, { queue });
            return [id, { ...job, ...decoded, error: await content.decodeError(error, { queue }) }] as const;
          }),
        ),
      );
    },
  };
}

function decodingEventStore(store: EventStore, content: StoredContent): EventStore {
  const decodeAll = (events: readonly RecordedEvent[]) =>
    Promise.all(
      events.map(async ({ id, event }) => {
        const { result, error } = event;
        if (result === undefined && error === undefined) return { id, event };
        const decoded = {
          ...(result !== undefined && { result: await content.decodeValue(result, 'result', event) }),
          ...(error !== undefined && { error: await content.decodeError(error, event) }),
        };
        return { id, event: { ...event, ...decoded } };
      }),
    );
  return {
    ...store,
    readAfter: async (...args) => decodeAll(await store.readAfter(...args)),
    readByIds: async (...args) => decodeAll(await store.readByIds(...args)),
  };
}

function decodingScheduleStore(store: ScheduleStore, content: StoredContent): ScheduleStore {
  const decode = async (schedule: ScheduleRecord): Promise<ScheduleRecord> => {
    const { queue, jobName: name } = schedule;
    return { ...schedule, payload: await content.decodeValue(schedule.payload, 'payload', { queue, name }) };
  };
  return {
    ...store,
    get: async (name) => {
      const schedule = await store.get(name);
      return schedule && decode(schedule);
    },
    list: async () => Promise.all((await store.list()).map(decode)),
  };
}

function decodingFlowStore(store: FlowStore, content: StoredContent): FlowStore {
  return {
    ...store,
    children: async (...args) =>
      Promise.all(
        (await store.children(...args)).map(async (child) => ({
          ...child,
          result: await content.decodeValue(child.result, 'result', child),
          error: await content.decodeError(child.error, child),
        })),
      ),
  };
}

/** A run decodes its own steps. */
function decodingStepStore(store: StepStore, content: StoredContent): StepStore {
  return {
    ...store,
    list: async (...args) =>
      Promise.all(
        (await store.list(...args)).map(async (step) => ({
          ...step,
          value: await content.decodeValue(step.value, step.signalKey === null ? 'step' : 'signal'),
        })),
      ),
  };
}
