import type { JobRelatives, RelatedJobs } from '../../../job/flows/flow-record.js';
import { executeAll, statement, type Work } from '../../core/statement.js';
import { readStates } from '../../reads/job-states.js';
import type { TableRow } from '../../tables/table-schemas.js';
import { toFinalState } from './read-flow.js';

const MAX_COUNTED = 1_000;

// An edge has the names of the job that is needed only. Each job of a flow is needed, at least by the end of the flow. The
// limit stands in the inner statement, in the order of the index: SQLite has no index of the ids, and would sort all parents.
const PARENTS = `
  SELECT e.job_id AS id, '' AS outcome,
         (SELECT n.queue FROM {edges} n {by edges.needs} WHERE n.needs = e.job_id LIMIT 1) AS queue,
         (SELECT n.name FROM {edges} n {by edges.needs} WHERE n.needs = e.job_id LIMIT 1) AS name
  FROM (
    SELECT job_id
    FROM {edges} {by edges.needs}
    WHERE needs = :jobId AND job_id > 0
    ORDER BY needs
    LIMIT :limit
  ) e
  ORDER BY e.job_id`;

const CHILDREN = `
  SELECT needs AS id, queue, name, outcome
  FROM {edges} {by primary}
  WHERE job_id = :jobId
  ORDER BY needs
  LIMIT :limit`;

const COUNT = (condition: string) => `
  SELECT COUNT(*) AS jobs
  FROM (SELECT 1 AS one FROM {edges} ${condition} LIMIT ${MAX_COUNTED + 1}) counted`;

const COUNT_PARENTS = COUNT('{by edges.needs} WHERE needs = :jobId AND job_id > 0');
const COUNT_CHILDREN = COUNT('{by primary} WHERE job_id = :jobId');

type RelatedRow = Pick<TableRow<'edges'>, 'outcome'> &
  Readonly<{ id: number; queue: string | null; name: string | null }>;

/**
 * Some parents and the first children of the job, by id. A parent whose edges are gone has no queue, by which a caller could
 * check rights: it counts, but the list leaves it out.
 */
export function* readRelatives(jobId: number, limit: number): Work<JobRelatives> {
  const answers = yield* executeAll([
    statement(PARENTS, { jobId, limit }),
    statement(COUNT_PARENTS, { jobId }),
    statement(CHILDREN, { jobId, limit }),
    statement(COUNT_CHILDREN, { jobId }),
  ]);
  const [parents, parentCount, children, childCount] = answers.map(({ rows }) => rows);
  const states = yield* readStates([...parents!, ...children!].map((row) => Number(row['id'])));
  const related = (rows: unknown, counted: unknown): RelatedJobs => {
    const all = Number((counted as { jobs: number }[])[0]!.jobs);
    return {
      jobs: (rows as RelatedRow[]).flatMap(({ id, queue, name, outcome }) => {
        if (queue === null || name === null) return [];
        const state = states.get(Number(id))?.state ?? toFinalState(outcome) ?? 'removed';
        return [{ id: Number(id), queue, name, state }];
      }),
      count: Math.min(all, MAX_COUNTED),
      atLeast: all > MAX_COUNTED,
    };
  };
  return { parents: related(parents, parentCount), children: related(children, childCount) };
}
