import type { AssignedJobPage, AssignedJobRecord } from '../consumer-store.js';
import { readIds } from '../../job/read-columns.js';
import { leaseEnd } from './assign.js';
import { nameable } from './claimed-row.js';
import { jobRecord, LIVE_COLUMNS, type RecordRow } from './job-record.js';
import { query, type Work } from './statement.js';

const COLUMNS = `${LIVE_COLUMNS}, c.lease_until, s.stage`;

const UNASSIGNED = `
  SELECT ${COLUMNS}
  FROM {jobs} j /*! FORCE INDEX ({jobs}_claim) */
  LEFT JOIN {claims} c ON c.id = j.claim_id
  LEFT JOIN {stages} s ON s.job_id = j.id
  WHERE j.queue = :queue AND j.runnable = 1 AND j.run_at IS NULL AND j.state = 'waiting'
    AND (j.priority > :priority OR (j.priority = :priority AND j.id > :id))
  ORDER BY j.priority, j.id
  LIMIT :limit`;

const IN_STAGE = `
  SELECT /*! STRAIGHT_JOIN */ ${COLUMNS}
  FROM {stages} s /*! FORCE INDEX ({stages}_place) */
  JOIN {jobs} j /*! FORCE INDEX (PRIMARY) */ ON j.id = s.job_id
  LEFT JOIN {claims} c ON c.id = j.claim_id
  WHERE s.queue = :queue AND s.stage = :stage
    AND (s.priority > :priority OR (s.priority = :priority AND s.job_id > :id))
  ORDER BY s.priority, s.job_id
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
  WHERE j.id IN (:ids) AND c.owner = :owner
  ORDER BY j.id`;

interface AssignedRow extends RecordRow {
  lease_until: number | null;
  stage: string | null;
}

type Page = Required<AssignedJobPage>;

export function* unassigned(queue: string, { after, limit }: Page): Work<AssignedJobRecord[]> {
  const { id, priority } = after;
  return nameable(yield* query<AssignedRow>(UNASSIGNED, { queue, id, priority, limit })).map(record);
}

export function* inStage(queue: string, stage: string, { after, limit }: Page): Work<AssignedJobRecord[]> {
  const { id, priority } = after;
  return nameable(yield* query<AssignedRow>(IN_STAGE, { queue, stage, id, priority, limit })).map(record);
}

export function* assigned(owner: string, queue: string | null, { after, limit }: Page): Work<AssignedJobRecord[]> {
  const claims = yield* query<{ job_ids: string }>(IDS_OF_OWNER, { owner, queue });
  const all = claims.flatMap(({ job_ids }) => readIds(job_ids) ?? []).sort((a, b) => a - b);
  const ids = all.filter((id) => id > after.id).slice(0, limit);
  if (ids.length === 0) return [];
  return (yield* query<AssignedRow>(ASSIGNED, { owner, ids })).map(record);
}

function record({ lease_until, stage, ...row }: AssignedRow): AssignedJobRecord {
  const untilMs = lease_until === null ? null : leaseEnd(lease_until);
  return { ...jobRecord(row), stage, leaseUntil: untilMs === null ? null : new Date(untilMs) };
}
