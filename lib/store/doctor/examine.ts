import { runCheck, type Check, type LightPatient } from './check.js';
import type { Diagnosis } from '../../job/problems/diagnosis.js';

/** @param checks those of the kind of database, in the order of the report */
export async function examine<Of extends LightPatient>(
  checks: readonly Check<Of>[],
  patient: Of,
): Promise<Diagnosis[]> {
  const diagnoses: Diagnosis[] = [];
  for (const check of checks) diagnoses.push(...(await runCheck(check, patient)));
  return diagnoses;
}
