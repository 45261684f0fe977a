import { groupBy } from '../common/lists.js';
import type { JobLogger } from '../common/logger.js';
import { isWorkedHere } from '../job/queue-pattern.js';
import type { ContentCodec } from '../job/codec/content-codec.js';
import type { NewSchedule } from '../job/schedules/schedule.js';
import type { OpenStore } from '../store/open-store.js';
import type { ScheduleStore } from '../store/features/schedules/schedule-store.js';
import type { FlowSettler } from '../worker/complete/flow-settler.js';
import type { PruneTask } from '../worker/pruner.js';
import type { WorkNotifier } from '../worker/work-notifier.js';
import type { CodeSchedules } from '../worker/worker-parts.js';

interface PruneSettings {
  readonly auditRetentionMs: number | false;
  readonly codec: Pick<ContentCodec, 'blobs'> | undefined;
  readonly logger: JobLogger;
  readonly workerOptions: Parameters<typeof isWorkedHere>[0];
}

/** The tables from which every worker deletes old rows. */
export function pruneTasks(
  { jobs, queues, waits, jobLogs, events, schedules, steps, groups, flows, audit, subjects }: OpenStore,
  notifier: Pick<WorkNotifier, 'wake'>,
  settler: Pick<FlowSettler, 'sweep'>,
  code: CodeSchedules,
  keepUndeclaredMs: number | false,
  { auditRetentionMs, codec, logger, workerOptions }: PruneSettings,
): PruneTask[] {
  const { blobs } = codec ?? {};
  return [
    (limit) => jobs.prune(limit),
    (limit) => waits.pruneWaits(limit),
    (limit) => jobLogs.pruneJobLogs(limit),
    (limit) => events.pruneEvents(limit),
    (limit) => jobs.cleanUp(limit),
    (limit) => jobs.pruneKeys(limit),
    () => queues.expire().then(() => 0),
    (limit) => steps.pruneSteps(limit),
    (limit) => groups.prune(limit),
    (limit) => flows.prune(limit),
    ...(auditRetentionMs === false ? [] : [(limit: number) => audit.prune(auditRetentionMs, limit)]),
    (limit) => subjects.prune(limit),
    () => settler.sweep().then(() => 0),
    () => wakeMissed(steps, notifier),
    ...(blobs ? [() => blobs.prune().then(() => 0)] : []),
    () => pruneSchedules(schedules, ownSchedules(code, workerOptions), code.revision, keepUndeclaredMs, logger),
  ];
}

/** Of the queues that this process works. Those of other queues are declared by the processes that run their ticks. */
function ownSchedules({ declared }: CodeSchedules, options: PruneSettings['workerOptions']): NewSchedule[] {
  return [...declared.values()].filter(({ job }) => isWorkedHere(options, job.queue));
}

async function pruneSchedules(
  store: ScheduleStore,
  own: readonly NewSchedule[],
  revision: string,
  keepUndeclaredMs: number | false,
  logger: JobLogger,
): Promise<number> {
  const missing = new Set(await store.keepDeclared(own.map(({ name }) => name)));
  if (missing.size > 0)
    await store.declare(
      own.filter(({ name }) => missing.has(name)),
      revision,
    );
  const removed = keepUndeclaredMs === false ? [] : await store.removeUndeclared(keepUndeclaredMs);
  if (removed.length > 0) logger.log(`Deleted schedules that no worker declares any more: ${removed.join(', ')}.`);
  return 0;
}

async function wakeMissed(steps: OpenStore['steps'], notifier: Pick<WorkNotifier, 'wake'>): Promise<number> {
  for (const [queue, { length }] of groupBy(await steps.wakeMissed(), (job) => job.queue)) notifier.wake(queue, length);
  return 0;
}
