import { groupBy } from '../common/lists.js';
import type { JobLogger } from '../common/logger.js';
import type { ContentCodec } from '../job/codec/content-codec.js';
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
}

/** The tables from which every worker deletes old rows. */
export function pruneTasks(
  { jobs, queues, waits, jobLogs, events, schedules, steps, groups, flows, audit, subjects }: OpenStore,
  notifier: Pick<WorkNotifier, 'wake'>,
  settler: Pick<FlowSettler, 'sweep'>,
  code: CodeSchedules,
  keepUndeclaredMs: number | false,
  { auditRetentionMs, codec, logger }: PruneSettings,
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
    () => pruneSchedules(schedules, code, keepUndeclaredMs, logger),
  ];
}

async function pruneSchedules(
  store: ScheduleStore,
  { declared, revision }: CodeSchedules,
  keepUndeclaredMs: number | false,
  logger: JobLogger,
): Promise<number> {
  const missing = await store.keepDeclared([...declared.keys()]);
  if (missing.length > 0)
    await store.declare(
      [...missing].map((name) => declared.get(name)!),
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
