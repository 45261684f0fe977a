import { query } from '../core/statement.js';
import { CLAIM_OLDEST } from '../databases/sqlite/claim/update.js';
import { LOCK_OLDEST } from '../databases/mysql/claim/skip-locked.js';
import { sqlTable } from '../schema/sql-tables.js';
import { jobTable } from '../tables/job-tables.js';
import { ok, ON_ALL, problem, type Check, type Patient } from './check.js';

const EXPLAIN_SERVER = `EXPLAIN FORMAT = TRADITIONAL ${LOCK_OLDEST}`;
const EXPLAIN_SQLITE = `EXPLAIN QUERY PLAN ${CLAIM_OLDEST}`;

const MAX_QUEUES = 10;
const NO_SUCH_INDEX = 1176;

interface ServerPlan {
  readonly type: string | null;
  readonly key: string | null;
  readonly Extra: string | null;
}

/** Whether a claim reads its index in order. Otherwise it sorts, and locks every job of the queue. */
export const checkClaimPlan: Check = {
  name: 'plan of the claim',
  on: ON_ALL,
  needs: 'It needs SELECT and UPDATE on the jobs.',
  async run(patient) {
    const wrong = await planProblems(patient);
    if (wrong.length === 0) return [ok(`a claim reads the index ${indexOf(patient)} in order`)];
    return wrong.map((facts) => problem(facts, repair(patient)));
  },
};

async function planProblems(patient: Patient): Promise<string[]> {
  const { database, dialect } = patient;
  const planProblem = dialect.name === 'sqlite' ? sqliteProblem : serverProblem;
  try {
    // On a server it reads the index, too.
    const names = await database.runIdempotent(() => dialect.queueNames('jobs'));
    const queues = names.length > 0 ? names.slice(0, MAX_QUEUES) : ['default'];
    const problems: string[] = [];
    for (const queue of queues) problems.push(...(await planProblem(patient, queue)));
    return problems;
  } catch (error) {
    const { errno, message = '' } = error as { errno?: number; message?: string };
    if (errno === NO_SUCH_INDEX || message.startsWith('no such index'))
      return [`the index ${indexOf(patient)} is missing`];
    throw error;
  }
}

async function serverProblem(patient: Patient, queue: string): Promise<string[]> {
  const plans = await patient.database.runIdempotent(() => query<ServerPlan>(EXPLAIN_SERVER, { queue, limit: 10 }));
  const bad = plans.find(
    ({ type, key, Extra }) =>
      type !== null &&
      (key !== indexOf(patient) || type === 'ALL' || type === 'index' || /filesort|temporary/.test(Extra ?? '')),
  );
  if (!bad) return [];
  const { type, key, Extra } = bad;
  return [`a claim of ${queue} has the plan ${type} ${key ?? 'without an index'} ${Extra ?? ''}`.trim()];
}

async function sqliteProblem(patient: Patient, queue: string): Promise<string[]> {
  const values = { queue, limit: 10, claimId: 0, maxAttempts: 1 };
  const plan = await patient.database.runIdempotent(() => query<{ detail: string }>(EXPLAIN_SQLITE, values));
  const details = plan.map(({ detail }) => detail);
  const bad = details.find((detail) => /TEMP B-TREE|^SCAN/.test(detail));
  return bad === undefined ? [] : [`a claim of ${queue} has the plan ${details.join('; ')}`];
}

function indexOf({ tables }: Patient): string {
  return `${tables.jobs}_queue`;
}

function repair(patient: Patient): string {
  const { jobs } = patient.tables;
  const index = indexOf(patient);
  const columns = sqlTable(patient.dialect.name, jobs, jobTable).indexes.get(index)!.join(', ');
  return `Another program has changed the index. Create it again: CREATE INDEX ${index} ON ${jobs} (${columns});`;
}
