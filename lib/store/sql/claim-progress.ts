import type { ClaimProgress, Flush } from '../job-store.js';
import { goesBack, isShort, type Fenced } from './fence.js';
import { together, type Work } from './statement.js';

// Of a claim that has been rescued nothing more may begin: its jobs have got their attempts back, and others have them.
const RAISE_STARTED = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET started = :started
  WHERE id = :id AND lease_until > :now`;

const END_CLAIMS = `
  DELETE /*! {claims} */ FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids)`;

// Where a job goes back, nobody may want it cancelled. A wish is written under the claim's lock, so that it is seen here, or
// finds the job gone from the claim.
const RAISE_UNWISHED = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET started = :started
  WHERE id = :id AND lease_until > :now AND cancelled IS NULL`;

const END_UNWISHED = `
  DELETE /*! {claims} */ FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND cancelled IS NULL`;

const HOLD_UNWISHED = `
  SELECT id
  FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :id AND cancelled IS NULL /*! FOR UPDATE */`;

// A claim that has ended already is no less ended.
const GUARDED = [RAISE_STARTED, RAISE_UNWISHED, END_UNWISHED, HOLD_UNWISHED];

/**
 * What a flush says of its claims. In the order of ids, whether they end or go on: a heartbeat locks the same claims in that
 * order.
 */
export function claimsOf({ claims, settlements }: Pick<Flush, 'claims' | 'settlements'>): Fenced[] {
  const returning = new Set(settlements.filter(goesBack).map(({ claimId }) => claimId));
  const progress = new Map<number, ClaimProgress | undefined>(Array.from(returning, (id) => [id, undefined]));
  for (const claim of claims) progress.set(claim.id, claim);
  const groups: { sql: string; ids: number[]; started: number }[] = [];
  for (const [id, claim] of [...progress].sort(([a], [b]) => a - b)) {
    const sql = sqlFor(claim, returning.has(id));
    const last = groups.at(-1);
    // Those that end go together; any other statement is about one.
    if (claim?.finished && last?.sql === sql) last.ids.push(id);
    else groups.push({ sql, ids: [id], started: claim?.started ?? 0 });
  }
  return groups.map(({ sql, ids, started }) => ({
    statement: { sql, values: { ids, id: ids[0]!, started } },
    rows: GUARDED.includes(sql) ? ids.length : undefined,
  }));
}

/** The same whatever has become of them. Answers those of which more were to begin and may not: they are nobody's, or others'. */
export function* noteProgress(claims: readonly ClaimProgress[]): Work<ReadonlySet<number>> {
  const notes = claimsOf({ claims, settlements: [] });
  const answers = yield* together(notes.map(({ statement }) => statement));
  const refused = notes.filter((note, index) => isShort(note, answers[index]!));
  return new Set(refused.map(({ statement }) => statement.values['id'] as number));
}

function sqlFor(claim: ClaimProgress | undefined, isGuarded: boolean): string {
  if (!claim) return HOLD_UNWISHED;
  if (claim.finished) return isGuarded ? END_UNWISHED : END_CLAIMS;
  return isGuarded ? RAISE_UNWISHED : RAISE_STARTED;
}
