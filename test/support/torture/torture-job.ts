/** The behaviours of torture jobs. A repeated kind is drawn more often. */
export const KINDS = [
  ...(['plain', 'plain', 'plain', 'plain', 'slow', 'fails', 'snoozes', 'releases', 'discards'] as const),
  ...(['transacts', 'transacts', 'blocks', 'exhausts'] as const),
];

export interface TortureJob {
  /** Unique, so that duplicates of a job are detected. */
  readonly token: string;
  readonly kind: (typeof KINDS)[number];
}
