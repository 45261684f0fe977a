import { createHash } from 'node:crypto';
import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';
import type { JobOverrides } from './enqueue-options.js';
import { expected } from './expectation.js';

/** What becomes of a job whose key another one holds. */
export type KeyConflict = 'return' | 'reject' | 'replace' | 'coalesce';

/** When a key is free again: when its job begins, when it ends, or when so much time has passed since it was put in. */
export type KeyUntil = 'started' | 'finished' | Duration;

/** The key of a job on its way into the store. */
export interface JobKey {
  readonly text: string;
  /** By which it is kept, exact whatever a column's collation. */
  readonly hash: string;
  readonly onConflict: KeyConflict;
  readonly until: 'started' | 'finished' | 'time';
  /** How long it is held where that is a time. */
  readonly forMs: number | null;
}

export interface KeyOptions {
  /** At most one job of the queue holds it at a time: 1 to 255 characters, all of which count. */
  key?: string;
  /**
   * Where another job holds the key: `return` answers that one, `coalesce` does so and keeps what becomes of it for ten minutes
   * at least, `reject` throws a DuplicateKeyError, `replace` puts the new job in the place of one that has not begun, and
   * throws where it has. Default `return`.
   */
  onConflict?: KeyConflict;
  /**
   * The key is free again when its job has `started` or `finished`, or after a duration whatever became of the job. Default
   * `finished`: completed, dead, cancelled or removed, and not while it waits to be tried again.
   */
  keyUntil?: KeyUntil;
}

const MOST_CHARACTERS = 255;
const CONFLICTS: readonly unknown[] = ['return', 'reject', 'replace', 'coalesce'];

// So long does the history know what became of a job that had a key: whoever joined it may still ask.
const ANSWER_MS = 600_000;

export function keyProblems({ key, onConflict, keyUntil }: KeyOptions): (string | undefined)[] {
  if (key === undefined) {
    return [
      onConflict === undefined ? undefined : 'expected key beside onConflict, got none',
      keyUntil === undefined ? undefined : 'expected key beside keyUntil, got none',
    ];
  }
  return [
    expected(isKey(key), `key to be a text of 1 to ${MOST_CHARACTERS} characters`, key),
    expected(
      onConflict === undefined || CONFLICTS.includes(onConflict),
      `onConflict to be 'return', 'reject', 'replace' or 'coalesce'`,
      onConflict,
    ),
    expected(
      keyUntil === undefined || isMoment(keyUntil) || (toMs(keyUntil) ?? 0) > 0,
      `keyUntil to be 'started', 'finished' or ${DURATION_EXPECTED} above 0`,
      keyUntil,
    ),
  ];
}

/** From options that have been checked. */
export function keyOf({ key, onConflict = 'return', keyUntil = 'finished' }: KeyOptions): JobKey | undefined {
  if (key === undefined) return undefined;
  const hash = createHash('sha256').update(key).digest('hex');
  if (isMoment(keyUntil)) return { text: key, hash, onConflict, until: keyUntil, forMs: null };
  return { text: key, hash, onConflict, until: 'time', forMs: toMs(keyUntil)! };
}

/** What a job's row says of its key, for people and for those who put the job back. */
export function keyOverrides({ text, until, forMs }: JobKey): Pick<JobOverrides, 'key' | 'keyUntil'> {
  return { key: text, keyUntil: until === 'time' ? forMs! : until };
}

/** The key that a stored job takes again when it is put back. A foreign INSERT may have written anything. */
export function keyToTakeAgain(overrides: JobOverrides | null): JobKey | undefined {
  const { key, keyUntil } = overrides ?? {};
  return isKey(key) && isMoment(keyUntil) ? keyOf({ key, keyUntil }) : undefined;
}

/** How long the history keeps a job: one with a key for some minutes at least, since others may have joined it. */
export function keepWithKey(overrides: JobOverrides | null, keepMs: number | false): number | false {
  if (overrides?.key === undefined) return keepMs;
  const heldMs = typeof overrides.keyUntil === 'number' ? overrides.keyUntil : 0;
  return Math.max(keepMs === false ? 0 : keepMs, heldMs + ANSWER_MS);
}

// Halves of surrogate pairs are no characters, and all of them would be one key.
function isKey(key: unknown): key is string {
  if (typeof key !== 'string' || key.length > 2 * MOST_CHARACTERS || /\p{Surrogate}/u.test(key)) return false;
  const characters = Array.from(key).length;
  return characters >= 1 && characters <= MOST_CHARACTERS;
}

function isMoment(keyUntil: unknown): keyUntil is 'started' | 'finished' {
  return keyUntil === 'started' || keyUntil === 'finished';
}
