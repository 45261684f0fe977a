import type { Rescued } from '../job-store.js';

/** Rescues from one claim after the other. Rejects only where nothing at all could be rescued. */
export async function rescueEach<Claim>(
  claims: readonly Claim[],
  rescue: (claim: Claim) => Promise<readonly Rescued[]>,
): Promise<Rescued[]> {
  const rescued: Rescued[] = [];
  const errors: unknown[] = [];
  for (const claim of claims) {
    try {
      rescued.push(...(await rescue(claim)));
    } catch (error) {
      // One claim in trouble must not keep the others waiting.
      errors.push(error);
    }
  }
  if (rescued.length === 0 && errors.length > 0) throw errors[0];
  return rescued;
}
