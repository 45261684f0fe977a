import type { PageRequest } from '../../../job/page-options.js';
import type { AssignedJobRecord } from './consumer-store.js';
import { leaseEndMs } from './assign.js';
import { readDate } from '../../../job/read-columns.js';
import { startValueOf, orderKeywordsOf } from '../../reads/candidates.js';
import { selectClaimed } from '../../reads/live-candidates.js';
import { withSafeIds } from '../../../job/identifiers.js';
import { toDate, toJobRecord, LIVE_COLUMNS, type RecordRow } from '../../rows/job-record.js';
import { query, type Values, type Work } from '../../core/statement.js';
import { IN_QUEUE } from '../../tables/runnable.js';

type OrderKeywords = ReturnType<typeof orderKeywordsOf>;

const COLUMNS = `${LIVE_COLUMNS}, c.lease_until, CASE WHEN c.snoozed_until > :now THEN c.snoozed_until END AS snoozed_until, s.stage`;

// With the group, index queue yields the order. Without it the server sorts the whole queue.
const selectUnassigned = ({ beyond, way }: OrderKeywords) => `
  SELECT ${COLUMNS}
  FROM {jobs} j {by jobs.queue}
  LEFT JOIN {claims} c ON c.id = j.claim_id
  LEFT JOIN {stages} s ON s.job_id = j.id
  WHERE j.queue = :queue AND j.runnable = ${IN_QUEUE} AND j.run_at IS NULL AND j.group_key = '' AND j.state = 'waiting'
    AND (j.priority ${beyond} :priority OR (j.priority = :priority AND j.id ${beyond} :id))
  ORDER BY j.priority ${way}, j.id ${way}
  LIMIT :limit`;

const selectInStage = ({ beyond, way }: OrderKeywords) => `
  SELECT {join in order} ${COLUMNS}
  FROM {stages} s {by stages.claim}
  JOIN {jobs} j {by primary} ON j.id = s.job_id
  LEFT JOIN {claims} c ON c.id = j.claim_id
  WHERE s.queue = :queue AND s.stage = :stage
    AND (s.priority ${beyond} :priority OR (s.priority = :priority AND s.job_id ${beyond} :id))
  ORDER BY s.priority ${way}, s.job_id ${way}
  LIMIT :limit`;

const SELECT_ASSIGNED = `
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

export function listUnassigned(queue: string, page: PageRequest): Work<AssignedJobRecord[]> {
  return listByPriority(selectUnassigned, { queue }, page);
}

export function listInStage(queue: string, stage: string, page: PageRequest): Work<AssignedJobRecord[]> {
  return listByPriority(selectInStage, { queue, stage }, page);
}

function* listByPriority(
  select: (keywords: OrderKeywords) => string,
  values: Values,
  { after, limit, order }: PageRequest,
): Work<AssignedJobRecord[]> {
  const [priority = startValueOf(order), id = startValueOf(order)] = after ?? [];
  const rows = yield* query<AssignedRow>(select(orderKeywordsOf(order)), { ...values, priority, id, limit });
  return withSafeIds(rows).map(toAssignedJobRecord);
}

export function* listAssigned(owner: string, queue: string | null, page: PageRequest): Work<AssignedJobRecord[]> {
  const { limit, order } = page;
  const readCandidates = yield* selectClaimed({ owner, queue }, order);
  const found: AssignedJobRecord[] = [];
  // A job may have left its claim, so a page of candidates may have fewer jobs than the list still needs.
  for (let { after } = page, isEnd = false; !isEnd && found.length < limit;) {
    const next = yield* readCandidates(after, limit);
    const ids = next.candidates.map(({ id }) => id);
    if (ids.length === 0) break;
    const rows = yield* query<AssignedRow>(SELECT_ASSIGNED, { owner, ids });
    const jobs = new Map(rows.map((row) => [Number(row.id), row]));
    for (const id of ids) if (jobs.has(id)) found.push(toAssignedJobRecord(jobs.get(id)!));
    after = next.candidates.at(-1)!.position;
    ({ isEnd } = next);
  }
  return found.slice(0, limit);
}

function toAssignedJobRecord({ lease_until, snoozed_until, stage, ...row }: AssignedRow): AssignedJobRecord {
  const untilMs = lease_until === null ? null : leaseEndMs(lease_until);
  return { ...toJobRecord(row), stage, leaseUntil: toDate(untilMs), snoozedUntil: toDate(readDate(snoozed_until)) };
}
