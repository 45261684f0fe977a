/** The ways to claim jobs. docs/guides/claim-strategies.md compares their costs and failures. */
export const CLAIM_STRATEGIES = ['skip-locked', 'lock', 'update', 'optimistic'] as const;

export type ClaimStrategy = (typeof CLAIM_STRATEGIES)[number];
