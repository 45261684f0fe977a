import type { QueueAdmin } from '../../../admin/queue-admin.js';
import type { JobPreview } from '../../../admin/preview-jobs.js';
import type { BulkOptions } from '../../../job/bulk-options.js';
import type { BulkVerb } from '../../../job/changed-states.js';
import type { ReplayKind } from '../../../job/replay-options.js';
import type { JobFilter } from '../../../store/admin/admin-store.js';
import { jobId, type Call, type CallOptions, type Command } from '../command.js';
import { CommandFailedError, UsageError } from '../errors.js';
import { requireExisting, requireUnlessCreated } from '../existing-queue.js';
import { FILTER_USAGE, filterOf } from './filter.js';

type Which = number[] | JobFilter | { all: true };
type Change = (call: Call, which: Which, bulk: BulkOptions) => Promise<number>;

const SELECTION_USAGE = `<id…> | --all | ${FILTER_USAGE} [--limit N] [--dry-run]`;

const retryJobs: Change = ({ engine, options }, which, bulk) =>
  engine.admin.retry(which, { ...bulk, ...replayOf(options), create: options.flag('create') });

function replayOf(options: CallOptions): ReplayKind {
  const completed = options.flag('completed');
  return { ...options.given('to', 'rate'), ...(completed && { completed }) } as ReplayKind;
}

export const retry: Command = {
  usage: `${SELECTION_USAGE} [--to QUEUE [--create]] [--rate 10/s] [--completed]`,
  args: [0, Infinity],
  run: (call) => change(call, 'retry', selectionOf(call), retryJobs),
};

export const replay: Command = {
  usage: '<queue> [--error E] [--name N] [--to QUEUE [--create]] [--rate 10/s] [--limit N] [--dry-run]',
  args: [1, 1],
  run: (call) => change(call, 'retry', { ...filterOf(call.options), queue: call.args[0]!, state: 'dead' }, retryJobs),
};

export const cancel = changeOf('cancel', (admin, which, bulk) => admin.cancel(which, bulk));

export const promote = changeOf('promote', (admin, which, bulk) => admin.promote(which, bulk));

export const remove = changeOf('remove', (admin, which, bulk) => admin.remove(which, bulk));

export const release: Command = {
  usage: '<id…>',
  args: [1, Infinity],
  run: (call) =>
    change(call, 'release', call.args.map(jobId), async ({ engine }, which) => {
      const ids = which as number[];
      let released = 0;
      for (const id of ids) if (await engine.admin.release(id)) released++;
      return released;
    }),
};

function changeOf(
  verb: BulkVerb,
  act: (admin: QueueAdmin, which: Which, bulk: BulkOptions) => Promise<number>,
): Command {
  return {
    usage: SELECTION_USAGE,
    args: [0, Infinity],
    run: (call) => change(call, verb, selectionOf(call), ({ engine }, which, bulk) => act(engine.admin, which, bulk)),
  };
}

function selectionOf({ args, options }: Call): Which {
  const filter = filterOf(options);
  const ids = args.map(jobId);
  const all = options.flag('all');
  const given = [ids.length > 0, Object.keys(filter).length > 0, all].filter(Boolean).length;
  if (given !== 1) throw new UsageError('expected either ids of jobs, or options that select jobs, or --all');
  if (ids.length > 0) return ids;
  return all ? { all } : filter;
}

/** Says how many jobs it would change, asks, and changes them. */
async function change(call: Call, verb: BulkVerb | 'release', which: Which, act: Change): Promise<void> {
  const { options, output } = call;
  const name = verb[0]!.toUpperCase() + verb.slice(1);
  const filtered = !Array.isArray(which) && 'queue' in which ? which.queue : undefined;
  await requireExisting(call, filtered);
  const to = options.text('to');
  if (to !== undefined) await requireUnlessCreated(call, to);
  const limit = options.wholeNumber('limit', 1, Number.MAX_SAFE_INTEGER);
  const bulk = limit === undefined ? {} : { limit };
  if (options.flag('dry-run') || !options.flag('yes')) {
    const { count, skips } = await preview(call, verb, which, act, bulk);
    if (options.flag('dry-run')) {
      const text = () => `${name} would change ${jobs(count)}.${skipsText(skips, 'would skip')}`;
      output.result({ wouldChange: count, wouldSkip: skips }, text);
      return;
    }
    await call.confirm(`${name} ${jobs(count)}?${skipsText(skips, 'skips')}`);
  }
  const changed = await act(call, which, bulk);
  output.result({ changed }, () => `${name}: ${jobs(changed)} changed.`);
  // The verb has not tried the ids after the limit.
  if (!Array.isArray(which) || changed === limit) return;
  const left = new Set(which).size - changed;
  if (left > 0) throw new CommandFailedError(`${jobs(left)} not changed: unknown, or in another state.`);
}

/** A preview counts up to 10,000 jobs. If there may be more, the verb counts all of them. */
async function preview(
  call: Call,
  verb: BulkVerb | 'release',
  which: Which,
  act: Change,
  { limit = Infinity }: BulkOptions,
): Promise<{ count: number; skips: JobPreview['skips'] }> {
  if (verb === 'release') return { count: (which as number[]).length, skips: {} };
  const options = verb === 'retry' ? { ...replayOf(call.options), create: call.options.flag('create') } : {};
  const { changes, skips } = await call.engine.admin.preview(verb, which, options);
  const isExact = !changes.atLeast || changes.value >= limit;
  const bulk = { ...(limit !== Infinity && { limit }), dryRun: true };
  return { count: isExact ? Math.min(changes.value, limit) : await act(call, which, bulk), skips };
}

function skipsText(skips: JobPreview['skips'], verb: string): string {
  const reasons = Object.entries(skips).map(
    ([reason, { value, atLeast }]) => `${value}${atLeast ? '+' : ''} ${reason}`,
  );
  return reasons.length === 0 ? '' : ` It ${verb} ${reasons.join(', ')}.`;
}

function jobs(count: number): string {
  return count === 1 ? '1 job' : `${count} jobs`;
}
