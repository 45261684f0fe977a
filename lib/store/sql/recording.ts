import { rowChunks } from './row-chunks.js';
import {
  relay,
  Rows,
  together,
  type Change,
  type Decided,
  type SqlValue,
  type Statement,
  type Work,
} from './statement.js';

const RECORD = `
  INSERT INTO {events} (event, queue, job_id, name, attempt, ran_ms, delay_ms, result, error, owner, recorded_at)
  VALUES :rows`;

const RECORDED = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, :now)`;

/** Whether the changes to the queue's jobs are to be recorded. */
export type IsRecorded = (queue: string) => boolean;

// What is longer goes by itself: together with others it could be more than a server takes.
const LONGEST_ALONG = 100_000;

/**
 * The same work, which also records what it notes: along with its next statements, so that this takes no round trip but where
 * nothing follows.
 *
 * @param onNoted told when there is something to record, before it is committed
 */
export function* recording<T>(work: Work<T>, isRecorded: IsRecorded, onNoted: () => void): Work<T> {
  const { value, left } = yield* recordingAll(work, isRecorded, onNoted);
  yield* together(left);
  return value;
}

/** The same for work whose last writes are sent by somebody else. */
export function* recordingDecided<T>(
  work: Work<Decided<T>>,
  isRecorded: IsRecorded,
  onNoted: () => void,
): Work<Decided<T>> {
  const { value, left } = yield* recordingAll(work, isRecorded, onNoted);
  return { ...value, writes: [...value.writes, ...left] };
}

/** Answers what is left to be recorded when the work is over: a short statement, if any. */
function* recordingAll<T>(work: Work<T>, isRecorded: IsRecorded, onNoted: () => void): Work<Recorded<T>> {
  let left: Statement[] = [];
  const value = yield* relay(work, function* ({ statements, changes, isLast = false }) {
    if (!changes) {
      const answers = yield { statements: [...statements, ...left.splice(0)], isLast };
      return answers.slice(0, statements.length);
    }
    const made = changes(isRecorded);
    if (made.length === 0) return [];
    onNoted();
    yield* together(left);
    left = yield* shortOnes(made);
    return [];
  });
  return { value, left };
}

interface Recorded<T> {
  readonly value: T;
  readonly left: readonly Statement[];
}

/** Records them, and answers the statement that can wait for others to go along with. */
function* shortOnes(changes: readonly Change[]): Work<Statement[]> {
  const chunks = rowChunks(changes.map(row));
  const statements = chunks.map((rows) => ({ sql: RECORD, values: { rows: new Rows(RECORDED, rows) } }));
  if (chunks.length === 1 && lengthOf(chunks[0]!) <= LONGEST_ALONG) return statements;
  for (const statement of statements) yield* together([statement]);
  return [];
}

function row({ event, queue, jobId, name, attempt, ranMs, delayMs, result, error, owner }: Change): SqlValue[] {
  const ran = typeof ranMs === 'number' ? Math.round(ranMs) : null;
  const ended = [delayMs ?? null, result ?? null, error ? JSON.stringify(error) : null, owner || null];
  return [event, queue, jobId, name, attempt, ran, ...ended];
}

function lengthOf(rows: readonly SqlValue[][]): number {
  return rows.flat().reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 10), 0);
}
