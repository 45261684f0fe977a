/** What a job of the torture does. Written more than once: how often it is drawn. */
export const KINDS = [
  ...(['plain', 'plain', 'plain', 'plain', 'slow', 'fails', 'snoozes', 'releases', 'discards'] as const),
  ...(['transacts', 'transacts', 'blocks', 'exhausts'] as const),
];

export interface TortureJob {
  /** Of its own, so that two of the same can be told from one. */
  readonly token: string;
  readonly kind: (typeof KINDS)[number];
}
