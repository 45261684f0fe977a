import type { RescuedJob } from './job-store.js';

/** Rejects only if errors occurred and no job was rescued. */
export async function rescueEach<Claim>(
  claims: readonly Claim[],
  rescue: (claim: Claim) => Promise<readonly RescuedJob[]>,
): Promise<RescuedJob[]> {
  const rescued: RescuedJob[] = [];
  const errors: unknown[] = [];
  for (const claim of claims) {
    try {
      rescued.push(...(await rescue(claim)));
    } catch (error) {
      // One failing claim must not keep the others from being rescued.
      errors.push(error);
    }
  }
  if (rescued.length === 0 && errors.length > 0) throw errors[0];
  return rescued;
}
