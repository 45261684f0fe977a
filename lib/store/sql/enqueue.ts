import { DEFAULT_JOB_NAME } from '../../job/job-names.js';
import type { NewJob } from '../../job/job.js';
import { changesOf } from './changes.js';
import { insertedIds } from './inserted-ids.js';
import { note, Rows, together, type Decided, type SqlValue, type Statement, type Work } from './statement.js';

const ENQUEUE = `
  INSERT INTO {jobs} (queue, name, run_at, state, runnable, priority, max_attempts, created_at, payload, headers, options)
  VALUES :rows`;

// run_at: the time asked for, or now plus the delay, or NULL (now plus NULL) for a job that runs at once.
const NEW_JOB = `(?, ?, COALESCE(?, :now + ?), ?, ?, ?, ?, :now, ?, ?, ?)`;

// For jobs that all run at once: shorter by two expressions a row, which the server would have to read. created_at is left
// to its default, the database's time as well.
const ENQUEUE_AT_ONCE = `
  INSERT INTO {jobs} (queue, name, state, runnable, priority, max_attempts, payload, headers, options)
  VALUES :rows`;

const JOB_AT_ONCE = `(?, ?, 'waiting', 1, ?, ?, ?, ?, ?)`;

// For jobs that say nothing else either: what the columns say by themselves costs the server a fifth less than being told.
const ENQUEUE_PLAIN = `
  INSERT INTO {jobs} (queue, payload)
  VALUES :rows`;

const PLAIN_JOB = `(?, ?)`;

// One statement may hold so many jobs, and so many characters: far below any server's max_allowed_packet.
const CHUNK_JOBS = 1_000;
const CHUNK_LENGTH = 500_000;

/** The jobs in as many statements as they need. */
export function jobChunks(jobs: readonly NewJob[]): NewJob[][] {
  const chunks: NewJob[][] = [];
  let length = 0;
  for (const job of jobs) {
    const more = job.payload.length + (job.headers?.length ?? 0) + 200;
    const last = chunks.at(-1);
    if (last && last.length < CHUNK_JOBS && length + more <= CHUNK_LENGTH) {
      last.push(job);
      length += more;
    } else {
      chunks.push([job]);
      length = more;
    }
  }
  return chunks;
}

/** A statement for each chunk, one after the other; answers the ids of all. */
export function* insertAll(chunks: readonly NewJob[][]): Work<number[]> {
  const ids: number[] = [];
  for (const chunk of chunks) {
    const [answer] = yield* together([insertJobs(chunk)]);
    ids.push(...(yield* insertedIds(answer!, chunk.length)));
  }
  yield* note((isRecorded) => {
    const jobs = chunks.flat().map(({ queue, name }, index) => ({ id: ids[index]!, queue, name }));
    return changesOf('enqueued', jobs)(isRecorded);
  });
  return ids;
}

/** The same for what is recorded along with them: only their ids tell what to write. */
export function* insertAndDecide(chunks: readonly NewJob[][]): Work<Decided<number[]>> {
  return { value: yield* insertAll(chunks), hasWritten: true, writes: [] };
}

/** Their ids follow from the first, in a way each database has its own word on. */
export function insertJobs(jobs: readonly NewJob[]): Statement {
  if (jobs.some(isForLater)) return { sql: ENQUEUE, values: { rows: new Rows(NEW_JOB, jobs.map(jobRow)) } };
  if (jobs.every(isPlain)) return { sql: ENQUEUE_PLAIN, values: { rows: new Rows(PLAIN_JOB, jobs.map(plainRow)) } };
  return { sql: ENQUEUE_AT_ONCE, values: { rows: new Rows(JOB_AT_ONCE, jobs.map(rowAtOnce)) } };
}

/** Whether it is scheduled, and not waiting at once. */
export function isForLater({ runAtMs, delayMs }: NewJob): boolean {
  return runAtMs !== null || delayMs !== null;
}

/** Whether the columns' defaults say all there is to say of it, but for its queue and payload. */
function isPlain({ name, priority, maxAttempts, headers, overrides }: NewJob): boolean {
  return name === DEFAULT_JOB_NAME && priority === 0 && maxAttempts === null && headers === null && overrides === null;
}

function jobRow(job: NewJob): SqlValue[] {
  const [state, runnable] = isForLater(job) ? ['scheduled', 0] : ['waiting', 1];
  const { queue, name, runAtMs, delayMs, priority, maxAttempts, payload, headers, overrides } = job;
  return [queue, name, runAtMs, delayMs, state, runnable, priority, maxAttempts ?? 0, payload, headers, overrides];
}

function plainRow({ queue, payload }: NewJob): SqlValue[] {
  return [queue, payload];
}

function rowAtOnce({ queue, name, priority, maxAttempts, payload, headers, overrides }: NewJob): SqlValue[] {
  return [queue, name, priority, maxAttempts ?? 0, payload, headers, overrides];
}
