import { jobTable } from '../tables/job-tables.js';
import { ok, problem, type LightCheck, type LightPatient } from './check.js';

const MAX_QUEUES = 10;

/** Explains the claim of `auto`. */
export interface ClaimPlans {
  /** The problem of the plan, if any. */
  problemOf(patient: LightPatient, queue: string): Promise<string | undefined>;
  isMissingIndex(error: unknown): boolean;
}

/** Whether a claim reads its index in order. Otherwise it sorts, and locks every job of the queue. */
export const checkClaimPlan = (plans: ClaimPlans): LightCheck => ({
  name: 'plan of the claim',
  isLight: true,
  needs: 'It needs SELECT and UPDATE on the jobs.',
  async run(patient) {
    const wrong = await planProblems(patient, plans);
    if (wrong.length === 0) return [ok(`a claim reads the index ${queueIndexOf(patient)} in order`)];
    return wrong.map((facts) => problem(facts, repair(patient)));
  },
});

async function planProblems(patient: LightPatient, plans: ClaimPlans): Promise<string[]> {
  const { database, dialect } = patient;
  try {
    // On a server it reads the index, too.
    const names = await database.runIdempotent(() => dialect.queueNames('jobs'));
    const queues = names.length > 0 ? names.slice(0, MAX_QUEUES) : ['default'];
    const problems: (string | undefined)[] = [];
    for (const queue of queues) problems.push(await plans.problemOf(patient, queue));
    return problems.filter((one) => one !== undefined);
  } catch (error) {
    if (plans.isMissingIndex(error)) return [`the index ${queueIndexOf(patient)} is missing`];
    throw error;
  }
}

export function queueIndexOf({ tables }: LightPatient): string {
  return `${tables.jobs}_queue`;
}

function repair(patient: LightPatient): string {
  const { jobs } = patient.tables;
  const index = queueIndexOf(patient);
  const columns = patient.schema.table(jobs, jobTable).indexes.get(index)!.join(', ');
  return `Another program has changed the index. Create it again: CREATE INDEX ${index} ON ${jobs} (${columns});`;
}
