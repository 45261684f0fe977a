interface BrokenFence {
  /** The text to find and replace in each file. */
  readonly find: Readonly<Record<string, readonly string[]>>;
  readonly replace: string;
}

const FENCE = 'WHERE :ids AND claim_id = :claimId';
const ACCEPTED_COMMIT = 'return logged.number === number ? { value: value(logged) } : undefined;';

/**
 * Changes that break one fence of the library, to prove that the history checker notices. They apply only to the
 * compiled copy in test processes, never to the published library.
 */
export const BROKEN_FENCES: Readonly<Record<string, BrokenFence>> = {
  'outcomes are written without the fence': {
    find: {
      'lib/store/verbs/complete-survivors.ts': [FENCE],
      'lib/store/ends/end-jobs.ts': [FENCE],
    },
    replace: 'WHERE :ids AND :claimId = :claimId',
  },
  'jobs are claimed without locks and without a check of their state': {
    find: {
      'lib/store/databases/mysql/claim/skip-locked.ts': ['FOR UPDATE SKIP LOCKED'],
      'lib/store/rows/claimed-row.ts': [`AND state = 'waiting'`],
    },
    replace: '',
  },
  'claimed jobs are claimed again by compare-and-set and by update': {
    find: {
      'lib/store/databases/mysql/claim/optimistic.ts': ["AND ${OF_QUEUE} AND state = 'waiting'"],
      'lib/store/databases/mysql/claim/update.ts': [`AND state = 'waiting'`],
    },
    replace: '',
  },
  'the lock of a worker locks nothing': {
    find: { 'lib/store/databases/mysql/mysql-worker-locks.ts': ['WHERE id = :id\n  FOR UPDATE`'] },
    replace: 'WHERE id = :id`',
  },
  'an enqueue in doubt is repeated': {
    find: { 'lib/store/databases/mysql/commit-log.ts': [ACCEPTED_COMMIT] },
    replace: 'return undefined;',
  },
  'an enqueue in doubt is believed': {
    find: { 'lib/store/databases/mysql/commit-log.ts': [ACCEPTED_COMMIT] },
    replace: 'return { value: value(logged) };',
  },
  'a late enqueue is not rejected': {
    find: { 'lib/store/databases/mysql/commit-log.ts': ['SET number = -1,'] },
    replace: 'SET',
  },
  'the transaction of a job does not complete it': {
    find: {
      'lib/store/verbs/sql-job-store.ts': ['inCallerTransaction(database, manager, () => endJobs([completion]))'],
    },
    replace: 'inCallerTransaction(database, manager, () => endJobs([]))',
  },
  'a lost outcome counts as stored': {
    find: { 'lib/store/ends/end-jobs.ts': ['throw new FenceError()'] },
    replace: 'return',
  },
  'claims of a limited queue do not wait for each other': {
    find: {
      'lib/store/features/limits/claim-within-limits.ts': [
        'FROM {limits} {by primary}\n  WHERE queue = :queue {lock}`',
      ],
    },
    replace: 'FROM {limits}\n  WHERE queue = :queue`',
  },
  'groups do not count their active jobs': {
    find: { 'lib/store/features/groups/turn.ts': ['Math.max(0, concurrency - active)'] },
    replace: 'concurrency',
  },
  'a group stays blocked when its jobs end': {
    find: {
      'lib/store/ends/end-jobs.ts': [', beforeRows: wakeGroups'],
      'lib/store/features/groups/join-groups.ts': [`(state = 'blocked' AND turn <= :now) OR `],
    },
    replace: '',
  },
  'a step is not stored in the transaction of its work': {
    find: {
      'lib/store/features/steps/sql-step-store.ts': [
        '        yield* executeAll([addStep(jobId, name, { ...ENDED, result })]);',
      ],
    },
    replace: '',
  },
  'a job of a flow does not wait for the others': {
    find: {
      'lib/store/features/flows/settle-jobs.ts': [
        'open[index]!.rows.length === 0',
        'open_edge === null || failed_edge !== null',
      ],
    },
    replace: 'true',
  },
  'a job that fans out does not notice a child that has failed': {
    find: {
      'lib/worker/run/job-children.ts': ['hasStored || '],
      'lib/store/features/flows/read-flow.ts': [`, 'failed'`],
    },
    replace: '',
  },
  'several workers run a tick': {
    find: { 'lib/store/features/schedules/run-ticks.ts': ['ORDER BY name {lock free}`'] },
    replace: 'ORDER BY name`',
  },
  'rescued jobs lose their attempt': {
    find: { 'lib/store/verbs/rescue.ts': ['mayHaveStarted: startedIds.has(job.id)'] },
    replace: 'mayHaveStarted: false',
  },
};

/** Returns the source to compile. */
export function breakFence(file: string, text: string, name = process.env.SQL_QUEUE_BREAK): string {
  const fence = name === undefined ? undefined : BROKEN_FENCES[name];
  if (name !== undefined && !fence)
    throw new Error(`expected one of ${Object.keys(BROKEN_FENCES).join(' | ')}, got ${name}`);
  const finds = fence?.find[file] ?? [];
  return finds.reduce((changed, find) => {
    if (!changed.includes(find)) throw new Error(`${file}: expected to find ${find}`);
    return changed.replaceAll(find, fence!.replace);
  }, text);
}
