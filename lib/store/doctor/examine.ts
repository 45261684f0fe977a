import { runCheck, type Check, type Patient } from './check.js';
import type { Diagnosis } from './diagnosis.js';

/** @param checks those of the kind of database, in the order of the report */
export async function examine(checks: readonly Check[], patient: Patient): Promise<Diagnosis[]> {
  const diagnoses: Diagnosis[] = [];
  for (const check of checks) diagnoses.push(...(await runCheck(check, patient)));
  return diagnoses;
}
