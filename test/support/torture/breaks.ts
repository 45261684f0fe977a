interface Break {
  /** What has to be found in which file: all of it is replaced. */
  readonly find: Readonly<Record<string, readonly string[]>>;
  readonly replace: string;
}

const FENCE = 'WHERE :ids AND claim_id = :claimId';
const BELIEVED = 'return seen.number === number ? { value: value(seen) } : undefined;';

/**
 * The library with one of its fences broken, to see that the checker of histories notices. Done to the compiled copy that
 * the processes of tests run, never to what is published.
 */
export const BREAKS: Readonly<Record<string, Break>> = {
  'outcomes are written without the fence': {
    find: {
      'lib/store/sql/settle.ts': [FENCE],
      'lib/store/sql/history.ts': [FENCE],
      'lib/store/sql/send-back.ts': [FENCE],
      'lib/store/sql/survivors.ts': [FENCE],
    },
    replace: 'WHERE :ids AND :claimId = :claimId',
  },
  'jobs are claimed without locks, and without looking who has them': {
    find: {
      'lib/store/claims/skip-locked.ts': ['FOR UPDATE SKIP LOCKED'],
      'lib/store/claims/claim-row.ts': [`AND state = 'waiting'`],
    },
    replace: '',
  },
  'jobs are taken by compare-and-set and by update though others have them': {
    find: {
      'lib/store/claims/optimistic.ts': [`AND state = 'waiting' AND run_at IS NULL`],
      'lib/store/claims/update.ts': [`AND state = 'waiting'`],
    },
    replace: '',
  },
  'a worker’s lock locks nothing': {
    find: { 'lib/store/sql/worker-lock.ts': ['WHERE id = :id\n  FOR UPDATE`'] },
    replace: 'WHERE id = :id`',
  },
  'an enqueue in doubt is done again': {
    find: { 'lib/store/dialects/numbered-commits.ts': [BELIEVED] },
    replace: 'return undefined;',
  },
  'an enqueue in doubt is believed': {
    find: { 'lib/store/dialects/numbered-commits.ts': [BELIEVED] },
    replace: 'return { value: value(seen) };',
  },
  'an enqueue that comes late is not refused': {
    find: { 'lib/store/dialects/numbered-commits.ts': ['SET number = -1,'] },
    replace: 'SET',
  },
  'a job’s own transaction does not complete it': {
    find: { 'lib/store/sql/complete-with.ts': ['.within(manager, () => settleClaimed([settlement]))'] },
    replace: '.within(manager, () => settleClaimed([]))',
  },
  'a lost outcome counts as written': {
    find: { 'lib/store/sql/settle.ts': ['throw new ShortCountError()'] },
    replace: 'return',
  },
  'rescued jobs lose their attempt': {
    find: { 'lib/store/sql/rescue.ts': ['mayHaveBegun: begun.has(job.id)'] },
    replace: 'mayHaveBegun: false',
  },
};

/** The source as it is to be compiled. */
export function broken(file: string, text: string, name = process.env.SQL_QUEUE_BREAK): string {
  const way = name === undefined ? undefined : BREAKS[name];
  if (name !== undefined && !way) throw new Error(`expected one of ${Object.keys(BREAKS).join(' | ')}, got ${name}`);
  const finds = way?.find[file] ?? [];
  return finds.reduce((changed, find) => {
    if (!changed.includes(find)) throw new Error(`${file}: expected to find ${find}`);
    return changed.replaceAll(find, way!.replace);
  }, text);
}
