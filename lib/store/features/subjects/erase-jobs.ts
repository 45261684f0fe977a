import { BLOB_PREFIX, isBlob } from '../../../job/codec/payload-codec.js';
import { jobOverridesOf } from '../../../job/read-columns.js';
import { ascending, idsOf } from '../../../job/identifiers.js';
import { deleteFrom, executeAll, query, type Statement, type Values, type Work } from '../../core/statement.js';
import { jobLogDeletions, stepDeletions } from '../../ends/earlier-runs.js';
import { inArchive } from '../../tables/archive-options.js';

// A whole payload may have a megabyte, a reference has a few hundred characters.
const referenceIn = (column: string) => `
    CASE WHEN SUBSTR(${column}, 1, ${BLOB_PREFIX.length}) = :blob THEN ${column} END AS ${column}`;

const LOCK_IDLE = `
  SELECT id, queue, options,${referenceIn('payload')}
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND claim_id = 0
  ORDER BY id {lock}`;

// One statement per row: see deleteFrom.
const ERASE_IDLE = `
  UPDATE {jobs} {by primary}
  SET payload = 'null', headers = NULL, error = NULL, options = :options
  WHERE id = :id AND claim_id = 0`;

const LOCK_FINISHED = `
  SELECT id, queue, options,${referenceIn('payload')},${referenceIn('result')}
  FROM {history} {by primary}
  WHERE id IN (:ids)
  ORDER BY id {lock}`;

const ERASE_FINISHED = `
  UPDATE {history} {by primary}
  SET payload = 'null', headers = NULL, result = NULL, error = NULL, options = :options
  WHERE id = :id`;

const LOCK_ARCHIVED = LOCK_FINISHED.replace('{history}', '{archive}');
const ERASE_ARCHIVED = ERASE_FINISHED.replace('{history}', '{archive}');

const SIGNALS_OF = `
  SELECT signal_hash AS hash
  FROM {steps}
  WHERE job_id IN (:ids) AND signal_hash IS NOT NULL`;

const DELETE_SIGNAL = deleteFrom('signals', 'hash = :hash AND sent_at > 0');

const EDGES_OF = `
  SELECT job_id, needs
  FROM {edges} {by edges.needs}
  WHERE needs IN (:ids)`;

const ERASE_EDGE = `
  UPDATE {edges} {by primary}
  SET result = NULL, error = NULL
  WHERE job_id = :job_id AND needs = :needs`;

// Reads all events of the last ten minutes, without locks.
const EVENTS_OF = `
  SELECT id
  FROM {events}
  WHERE job_id IN (:ids) AND (result IS NOT NULL OR error IS NOT NULL)`;

const DELETE_EVENT = deleteFrom('events', 'id = :id AND recorded_at > 0');

interface Row {
  readonly id: number;
  readonly queue: string;
  readonly options: string | null;
  /** References to blobs, else null. */
  readonly payload: string | null;
  readonly result?: string | null;
}

/** The jobs whose content was erased, and those that stay as they are, because a blob would lose its last reference. */
export interface ErasedJobs {
  readonly ids: readonly number[];
  readonly queues: readonly string[];
  readonly withBlobs: readonly { readonly id: number; readonly blobs: readonly string[] }[];
}

type MayForget = (blob: string) => boolean;

/** Erases the content of jobs that no claim has. */
export function* eraseIdle(ids: readonly number[], mayForget: MayForget): Work<ErasedJobs> {
  return yield* lockAndErase(LOCK_IDLE, ERASE_IDLE, ids, mayForget);
}

/** Erases the content of the jobs that are in the history or in an archive. */
export function* eraseFinished(
  ids: readonly number[],
  archives: readonly string[],
  mayForget: MayForget,
): Work<ErasedJobs> {
  const all = [yield* lockAndErase(LOCK_FINISHED, ERASE_FINISHED, ids, mayForget)];
  for (const to of archives)
    all.push(yield* lockAndErase(inArchive(LOCK_ARCHIVED, to), inArchive(ERASE_ARCHIVED, to), ids, mayForget));
  return {
    ids: all.flatMap((each) => each.ids),
    queues: all.flatMap((each) => each.queues),
    withBlobs: all.flatMap((each) => each.withBlobs),
  };
}

function* lockAndErase(lock: string, erase: string, ids: readonly number[], mayForget: MayForget): Work<ErasedJobs> {
  if (ids.length === 0) return { ids: [], queues: [], withBlobs: [] };
  const rows = yield* query<Row>(lock, { ids: ascending(ids), blob: BLOB_PREFIX });
  const kept = new Map(rows.map((row) => [row, blobsOf(row).filter((blob) => !mayForget(blob))] as const));
  const erasable = rows.filter((row) => kept.get(row)!.length === 0);
  yield* executeAll(
    erasable.map((row) => ({ sql: erase, values: { id: Number(row.id), options: optionsWithout(row) } })),
  );
  const withBlobs = [...kept].flatMap(([{ id }, blobs]) => (blobs.length === 0 ? [] : [{ id: Number(id), blobs }]));
  return { ids: idsOf(erasable), queues: erasable.map(({ queue }) => queue), withBlobs };
}

function blobsOf({ payload, result }: Row): string[] {
  return [payload, result].filter((text) => typeof text === 'string').filter(isBlob);
}

/** Only the flow stays: the other jobs of the flow need it. A key or a group may name the subject. */
function optionsWithout({ options }: Row): string | null {
  const { flow } = jobOverridesOf(options);
  return flow === undefined ? null : JSON.stringify({ flow });
}

/** Erases the content of the jobs in all other tables. */
export function* eraseOtherContent(ids: readonly number[]): Work<void> {
  if (ids.length === 0) return;
  const inOrder = ascending(ids);
  const signals = yield* query<{ hash: string }>(SIGNALS_OF, { ids: inOrder });
  const edges = yield* query<{ job_id: number; needs: number }>(EDGES_OF, { ids: inOrder });
  const events = yield* query<{ id: number }>(EVENTS_OF, { ids: inOrder });
  const each = (sql: string, rows: readonly object[]): Statement[] =>
    rows.map((row) => ({ sql, values: { ...row } as Values }));
  yield* executeAll([
    ...jobLogDeletions(inOrder),
    ...each(DELETE_EVENT, events),
    ...stepDeletions(inOrder),
    ...each(DELETE_SIGNAL, signals),
    ...each(ERASE_EDGE, edges),
  ]);
}

const SIGNALS_WITH_KEY = `
  SELECT hash
  FROM {signals}
  WHERE signal_key = :key`;

/** Returns the number of signals that it has deleted. */
export function* eraseSignals(key: string): Work<number> {
  const signals = yield* query<{ hash: string }>(SIGNALS_WITH_KEY, { key });
  const deleted = yield* executeAll(signals.map(({ hash }) => ({ sql: DELETE_SIGNAL, values: { hash } })));
  return deleted.reduce((sum, { affectedRows }) => sum + affectedRows, 0);
}
