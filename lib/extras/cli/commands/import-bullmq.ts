import { openBullmqQueue, type BullmqQueue } from '../bullmq/bullmq-queue.js';
import { JobMover, type Left, type MovedState } from '../bullmq/job-mover.js';
import { moveSchedulers, reasonToStay } from '../bullmq/move-schedulers.js';
import type { Call, Command } from '../command.js';
import { CommandFailedError, UsageError } from '../errors.js';
import { requireUnlessCreated } from '../existing-queue.js';

const MAX_SHOWN = 20;

// The order in which BullMQ starts jobs.
const STATES: readonly MovedState[] = ['waiting', 'paused', 'prioritized', 'delayed'];

interface Found extends Record<MovedState, number> {
  active: number;
  'waiting-children': number;
}

export const importBullmq: Command = {
  usage:
    '<queue> [--redis URL] [--to QUEUE] [--create] [--failed] [--no-schedulers] [--tz ZONE] [--rename OLD=NEW] [--bull-prefix P] [--dry-run]',
  args: [1, 1],
  // BullMQ has no limit. A longer payload needs a larger max_allowed_packet than the default of MariaDB.
  defaults: { maxPayloadBytes: 4_000_000 },
  async run(call) {
    const { args, options, env } = call;
    const url = options.text('redis') ?? env.REDIS_URL;
    if (!url) throw new UsageError('expected the URL of Redis in REDIS_URL or --redis, got none');
    const names = namesOf(options.texts('rename'));
    if (!options.flag('dry-run')) await requireUnlessCreated(call, options.text('to') ?? args[0]!);
    const source = await openBullmqQueue(args[0]!, url, options.text('bull-prefix') ?? 'bull');
    try {
      await importFrom(source, names, call);
    } finally {
      await source.close();
    }
  },
};

async function importFrom(source: BullmqQueue, names: ReadonlyMap<string, string>, call: Call): Promise<void> {
  const { options, output, confirm } = call;
  const found = await countOf(source);
  refuseActive(source, found);
  const states = options.flag('failed') ? [...STATES, 'failed' as const] : STATES;
  const schedulers = options.flag('no-schedulers') ? [] : await source.getJobSchedulers(0, -1, true);
  const jobs = states.reduce((sum, state) => sum + found[state], 0);
  const queue = options.text('to') ?? source.name;
  const question = `${jobs} jobs and ${schedulers.length} job schedulers of ${source.name}`;
  const nowMs = () => call.engine.clock.now().getTime();
  if (options.flag('dry-run')) {
    const left = schedulers.flatMap((one) => {
      const reason = reasonToStay(one, nowMs());
      return reason === undefined ? [] : [{ id: one.key, reason }];
    });
    const counts = { queue: source.name, to: queue, jobs: found, schedulers: schedulers.length };
    output.result({ ...counts, left: left.length, leftJobs: left }, () =>
      [question, ...flowLines(found), ...linesOf(left)].join('\n'),
    );
    return;
  }
  await confirm(`Move ${question} from Redis to ${queue}?`);
  await pause(source);

  const { engine, dataSource, target, terminal } = call;
  const conversion = { queue: source.name, names };
  const { producer, schedules } = engine;
  const to = { queue, producer, schedules, dataSource };
  const tz = options.text('tz') ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const scheduled = options.flag('no-schedulers')
    ? { moved: 0, left: [] }
    : await moveSchedulers({ source, conversion, tz, target: to, nowMs });
  const onPage = (moved: number) => terminal.writeError(`${moved} of ${jobs} jobs\n`);
  const staying = options.flag('no-schedulers') ? await source.getJobSchedulers(0, -1, true) : scheduled.left;
  const stayingSchedulers = new Set(staying.map(keyOf));
  const { prefix } = target;
  const mover = new JobMover({ source, conversion, target: to, prefix, stayingSchedulers, onPage });
  for (const state of states) await mover.move(state);
  report(call, { queue, mover, scheduled, remaining: await countOf(source) });
}

/** A job that is running would be lost if its worker failed after the import. */
function refuseActive({ name }: BullmqQueue, { active }: Found): void {
  if (active === 0) return;
  throw new CommandFailedError(
    `${active} jobs of ${name} are active in BullMQ. Stop its workers with worker.close(), which waits for running jobs. Jobs of a worker that was killed stay active until another worker finds them stalled. Nothing is changed.`,
  );
}

/** So that no worker starts a job that is being moved. The pause stays: a forgotten worker must not run later jobs. */
async function pause(source: BullmqQueue): Promise<void> {
  if (await source.isPaused()) return;
  await source.pause();
  try {
    refuseActive(source, await countOf(source));
  } catch (error) {
    await source.resume();
    throw error;
  }
}

function report(
  { output }: Call,
  result: {
    queue: string;
    mover: JobMover;
    scheduled: { moved: number; left: readonly Left[] };
    remaining: Found;
  },
): void {
  const { queue, mover, scheduled, remaining } = result;
  const left = [...scheduled.left, ...mover.left];
  const waitingInRedis = STATES.reduce((sum, state) => sum + remaining[state], 0) + remaining['waiting-children'];
  const counts = Object.entries(mover.moved).map(([state, count]) => `${count} ${state}`);
  output.result(
    {
      ...{ to: queue, moved: mover.moved, known: mover.known, schedulers: scheduled.moved },
      ...{ left: left.length, leftJobs: left.slice(0, MAX_SHOWN), waitingInRedis, failedInRedis: remaining.failed },
    },
    () =>
      [
        `Moved to ${queue}: ${counts.join(', ') || 'no jobs'}; ${scheduled.moved} job schedulers.`,
        ...(mover.known > 0 ? [`An earlier import had stored ${mover.known} of these jobs.`] : []),
        `In Redis remain ${waitingInRedis} jobs, and ${remaining.failed} failed ones. The queue stays paused there.`,
        ...flowLines(remaining),
        ...linesOf(left),
      ].join('\n'),
  );
  if (left.length === 0 && waitingInRedis <= mover.ofSchedulers) return;
  throw new CommandFailedError(
    left.length > 0
      ? 'Some jobs stay in Redis.'
      : 'A producer has added jobs to Redis meanwhile. Run the command again.',
  );
}

/** What stays in Redis, with the reason. */
function linesOf(left: readonly Left[]): string[] {
  const shown = left.slice(0, MAX_SHOWN).map(({ id, reason }) => `  ${id}: ${reason}`);
  return left.length > MAX_SHOWN ? [...shown, `  and ${left.length - MAX_SHOWN} more`] : shown;
}

function flowLines({ 'waiting-children': parents }: Found): string[] {
  return parents === 0 ? [] : [`  ${parents} wait for the children of their flows, and stay with them.`];
}

function keyOf(one: { readonly key: string } | Left): string {
  return 'key' in one ? one.key : one.id;
}

async function countOf(source: BullmqQueue): Promise<Found> {
  return source.getJobCounts(...STATES, 'failed', 'active', 'waiting-children');
}

function namesOf(given: readonly string[]): Map<string, string> {
  return new Map(
    given.map((text) => {
      const [, from, to] = /^(.+)=([^=]+)$/.exec(text) ?? [];
      if (to === undefined) throw new UsageError(`expected --rename to be OLD=NEW, got "${text}"`);
      return [from!, to];
    }),
  );
}
