import { createHash } from 'node:crypto';
import type { Duration } from '../common/units.js';
import { expected } from './expectation.js';
import type { JobOverrides } from './job-overrides.js';
import { kind, oneOf, option, positiveDuration, type Kind, type SchemaOf } from './option-schema.js';

/** The effect on a new job if another job owns its key. */
export type KeyConflict = 'return' | 'reject' | 'replace' | 'coalesce' | 'after';

/** When a key is free again: when its job starts, when its job finishes, or this time after the job was enqueued. */
export type KeyUntil = 'started' | 'finished' | Duration;

export interface JobKey {
  readonly text: string;
  /** The stored form. It compares exactly under any collation of the column. */
  readonly hash: string;
  readonly onConflict: KeyConflict;
  readonly until: 'started' | 'finished' | 'time';
  /** Milliseconds for which the job owns the key; null unless `until` is `time`. */
  readonly durationMs: number | null;
}

export interface KeyOptions {
  /** At most one job of the queue owns the key at a time. 1 to 255 characters, compared exactly. Default: no key. */
  key?: string;
  /**
   * The effect if another job owns the key. `return` returns that job. `coalesce` does the same, and the history keeps
   * that job for at least ten minutes. `reject` throws DuplicateKeyError. `replace` replaces that job, with all that its
   * runs have left, if no worker or person has it, else throws DuplicateKeyError. `after` replaces that job if it is not
   * running, else runs the new one after it: it needs `group`, and `groups: { concurrency: 1 }` in the options of the
   * queue. Default `return`.
   */
  onConflict?: KeyConflict;
  /**
   * When the key is free again: when its job has `started`, when it has `finished`, or after a duration in any state of
   * the job. Default `finished`: completed, dead, cancelled or removed. A job that waits for a retry still owns its
   * key.
   */
  keyUntil?: KeyUntil;
}

const MAX_KEY_LENGTH = 255;

/** Parses a duration to milliseconds. */
const KEY_UNTIL: Kind<'started' | 'finished' | number> = {
  expected: `'started', 'finished' or ${positiveDuration.expected}`,
  parse: (value) => (isKeyEvent(value) ? value : positiveDuration.parse(value)),
};

export const KEY_OPTIONS = {
  key: option(kind(`a text of 1 to ${MAX_KEY_LENGTH} characters`, isKey)),
  onConflict: option(oneOf('return', 'reject', 'replace', 'coalesce', 'after'), 'return'),
  keyUntil: option(KEY_UNTIL, 'finished'),
} satisfies SchemaOf<KeyOptions>;

export function missingKeyProblems({
  key,
  onConflict,
  keyUntil,
  group,
}: KeyOptions & { group?: string }): (string | undefined)[] {
  if (key !== undefined) {
    if (onConflict !== 'after') return [];
    return [
      group === undefined ? `expected group beside onConflict: 'after', got none` : undefined,
      expected(
        keyUntil === undefined || keyUntil === 'finished',
        `keyUntil to be 'finished' with onConflict: 'after'`,
        keyUntil,
      ),
    ];
  }
  return [
    onConflict === undefined ? undefined : 'expected key beside onConflict, got none',
    keyUntil === undefined ? undefined : 'expected key beside keyUntil, got none',
  ];
}

/** The key of checked options. */
export function keyOf({ key, onConflict: givenConflict, keyUntil }: KeyOptions): JobKey | undefined {
  if (key === undefined) return undefined;
  const hash = createHash('sha256').update(key).digest('hex');
  const onConflict = KEY_OPTIONS.onConflict.resolve(givenConflict);
  const until = KEY_OPTIONS.keyUntil.resolve(keyUntil);
  if (isKeyEvent(until)) return { text: key, hash, onConflict, until, durationMs: null };
  return { text: key, hash, onConflict, until: 'time', durationMs: until };
}

export function keyOverrides({ text, until, durationMs }: JobKey): Pick<JobOverrides, 'key' | 'keyUntil'> {
  return { key: text, keyUntil: until === 'time' ? durationMs! : until };
}

/** Whether a new job takes the place of the owner of its key, if that job is not running. */
export function mayReplace({ onConflict }: Pick<JobKey, 'onConflict'>): boolean {
  return onConflict === 'replace' || onConflict === 'after';
}

/** The key that a stored job owns again when it is retried. Other programs may have written an invalid one. */
export function keyToRestore(overrides: JobOverrides | null): JobKey | undefined {
  const { key, keyUntil } = overrides ?? {};
  return isKey(key) && isKeyEvent(keyUntil) ? keyOf({ key, keyUntil }) : undefined;
}

// A database stores every lone surrogate as the same character, so that different keys would collide.
function isKey(key: unknown): key is string {
  if (typeof key !== 'string' || key.length > 2 * MAX_KEY_LENGTH || /\p{Surrogate}/u.test(key)) return false;
  const characters = Array.from(key).length;
  return characters >= 1 && characters <= MAX_KEY_LENGTH;
}

function isKeyEvent(keyUntil: unknown): keyUntil is 'started' | 'finished' {
  return keyUntil === 'started' || keyUntil === 'finished';
}

/** The last job that owned a key, as its key row stores it. */
export interface KeyOwner {
  readonly until: JobKey['until'];
  /** The duration of a key with `until: 'time'` is not over. Always false for other keys. */
  readonly hasTime: boolean;
  /** Undefined if the job is finished or removed. */
  readonly job: KeyOwnerJob | undefined;
}

export interface KeyOwnerJob {
  /** The job is waiting or scheduled. */
  readonly isUnclaimed: boolean;
  /** Runs started so far. */
  readonly attempt: number;
}

/** `put`: store the job. `join`: return the owner. `replace`: store it in place of the owner. `refuse`: throw. */
type KeyDecision = 'put' | 'join' | 'replace' | 'refuse';

/** This follows from the state of the job, so no statement has to free a key. */
export function isKeyTaken({ until, hasTime, job }: KeyOwner): boolean {
  if (until === 'time') return hasTime;
  return job !== undefined && (until === 'finished' || (job.isUnclaimed && job.attempt === 0));
}

export function decideKey(owner: KeyOwner, onConflict: KeyConflict): KeyDecision {
  if (!isKeyTaken(owner)) return 'put';
  if (onConflict === 'return' || onConflict === 'coalesce') return 'join';
  if (mayReplace({ onConflict }) && owner.job?.isUnclaimed) return 'replace';
  return onConflict === 'after' ? 'put' : 'refuse';
}
