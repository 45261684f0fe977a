interface Break {
  readonly file: string;
  /** All of them. */
  readonly find: readonly string[];
  readonly replace: string;
}

/**
 * The library with one of its fences broken, to see that the checker of histories notices. Done to the compiled copy that
 * the processes of tests run, never to what is published.
 */
export const BREAKS: Readonly<Record<string, Break>> = {
  'outcomes are written without the fence': {
    file: 'lib/store/sql/settle.ts',
    find: ['WHERE :ids AND claim_id = :claimId'],
    replace: 'WHERE :ids AND :claimId = :claimId',
  },
  'jobs are claimed without locks, and without looking who has them': {
    file: 'lib/store/claims/skip-locked.ts',
    find: ['FOR UPDATE SKIP LOCKED', 'AND claim_id = 0'],
    replace: '',
  },
  'an enqueue in doubt is done again': {
    file: 'lib/store/dialects/numbered-commits.ts',
    find: ['if (seen !== number) return undefined'],
    replace: 'return undefined',
  },
  'an enqueue in doubt is believed': {
    file: 'lib/store/dialects/numbered-commits.ts',
    find: ['if (seen !== number) return undefined'],
    replace: '',
  },
  'an enqueue that comes late is not refused': {
    file: 'lib/store/dialects/numbered-commits.ts',
    find: ['SET number = -1,'],
    replace: 'SET',
  },
  'a job’s own transaction does not complete it': {
    file: 'lib/store/sql/sql-job-store.ts',
    find: ['.within(manager, () => settleClaimed([settlement]))'],
    replace: '.within(manager, () => settleClaimed([]))',
  },
  'a lost outcome counts as written': {
    file: 'lib/store/sql/settle.ts',
    find: ['throw new ShortCountError()'],
    replace: 'return',
  },
  'rescued jobs lose their attempt': {
    file: 'lib/store/sql/rescue.ts',
    find: ['mayHaveBegun: begun.has(job.id)'],
    replace: 'mayHaveBegun: false',
  },
};

/** The source as it is to be compiled. */
export function broken(file: string, text: string, name = process.env.SQL_QUEUE_BREAK): string {
  const way = name === undefined ? undefined : BREAKS[name];
  if (name !== undefined && !way) throw new Error(`expected one of ${Object.keys(BREAKS).join(' | ')}, got ${name}`);
  if (way?.file !== file) return text;
  return way.find.reduce((changed, find) => {
    if (!changed.includes(find)) throw new Error(`${file}: expected to find ${find}`);
    return changed.replaceAll(find, way.replace);
  }, text);
}
