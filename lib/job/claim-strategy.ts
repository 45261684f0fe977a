/** How jobs are taken; docs/guides/claim-strategies.md says what each costs and how it fails. */
export const CLAIM_STRATEGIES = ['skip-locked', 'lock', 'update', 'optimistic'] as const;

export type ClaimStrategy = (typeof CLAIM_STRATEGIES)[number];
