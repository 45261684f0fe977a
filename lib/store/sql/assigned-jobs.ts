import type { PageRequest } from '../../job/page-options.js';
import type { AssignedJobRecord } from '../consumer-store.js';
import { leaseEnd } from './assign.js';
import { readDate, readIds } from '../../job/read-columns.js';
import { among, startOf, wordsOf } from './candidates.js';
import { nameable } from './claimed-row.js';
import { jobRecord, LIVE_COLUMNS, type RecordRow } from './job-record.js';
import { query, type Work } from './statement.js';

type Words = ReturnType<typeof wordsOf>;

const COLUMNS = `${LIVE_COLUMNS}, c.lease_until, CASE WHEN c.snoozed_until > :now THEN c.snoozed_until END AS snoozed_until, s.stage`;

const unassignedIn = ({ beyond, way }: Words) => `
  SELECT ${COLUMNS}
  FROM {jobs} j /*! FORCE INDEX ({jobs}_claim) */
  LEFT JOIN {claims} c ON c.id = j.claim_id
  LEFT JOIN {stages} s ON s.job_id = j.id
  WHERE j.queue = :queue AND j.runnable = 1 AND j.run_at IS NULL AND j.state = 'waiting'
    AND (j.priority ${beyond} :priority OR (j.priority = :priority AND j.id ${beyond} :id))
  ORDER BY j.priority ${way}, j.id ${way}
  LIMIT :limit`;

const inStageIn = ({ beyond, way }: Words) => `
  SELECT /*! STRAIGHT_JOIN */ ${COLUMNS}
  FROM {stages} s /*! FORCE INDEX ({stages}_place) */
  JOIN {jobs} j /*! FORCE INDEX (PRIMARY) */ ON j.id = s.job_id
  LEFT JOIN {claims} c ON c.id = j.claim_id
  WHERE s.queue = :queue AND s.stage = :stage
    AND (s.priority ${beyond} :priority OR (s.priority = :priority AND s.job_id ${beyond} :id))
  ORDER BY s.priority ${way}, s.job_id ${way}
  LIMIT :limit`;

// The claims are few, and each that has an owner is of one job.
const IDS_OF_OWNER = `
  SELECT job_ids
  FROM {claims}
  WHERE owner = :owner AND (:queue IS NULL OR queue = :queue)`;

const ASSIGNED = `
  SELECT ${COLUMNS}
  FROM {jobs} j
  JOIN {claims} c ON c.id = j.claim_id
  LEFT JOIN {stages} s ON s.job_id = j.id
  WHERE j.id IN (:ids) AND c.owner = :owner`;

interface AssignedRow extends RecordRow {
  lease_until: number | null;
  snoozed_until: number | null;
  stage: string | null;
}

export function* unassigned(queue: string, page: PageRequest): Work<AssignedJobRecord[]> {
  const values = { queue, ...placeOf(page) };
  return nameable(yield* query<AssignedRow>(unassignedIn(wordsOf(page.order)), values)).map(record);
}

export function* inStage(queue: string, stage: string, page: PageRequest): Work<AssignedJobRecord[]> {
  const values = { queue, stage, ...placeOf(page) };
  return nameable(yield* query<AssignedRow>(inStageIn(wordsOf(page.order)), values)).map(record);
}

export function* assigned(owner: string, queue: string | null, page: PageRequest): Work<AssignedJobRecord[]> {
  const { after, limit, order } = page;
  const claims = yield* query<{ job_ids: string }>(IDS_OF_OWNER, { owner, queue });
  const all = claims.flatMap(({ job_ids }) => readIds(job_ids) ?? []);
  const { some } = yield* among(all, order)(after, limit);
  const ids = some.map(({ id }) => id);
  if (ids.length === 0) return [];
  const rows = new Map((yield* query<AssignedRow>(ASSIGNED, { owner, ids })).map((row) => [Number(row.id), row]));
  return ids.flatMap((id) => (rows.has(id) ? [record(rows.get(id)!)] : []));
}

function placeOf({ after, limit, order }: PageRequest) {
  const [priority = startOf(order), id = startOf(order)] = after ?? [];
  return { priority, id, limit };
}

function record({ lease_until, snoozed_until, stage, ...row }: AssignedRow): AssignedJobRecord {
  const untilMs = lease_until === null ? null : leaseEnd(lease_until);
  return { ...jobRecord(row), stage, leaseUntil: date(untilMs), snoozedUntil: date(readDate(snoozed_until)) };
}

function date(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
