/** The behaviours of torture jobs. A repeated kind is drawn more often. */
export const KINDS = [
  ...(['plain', 'plain', 'plain', 'plain', 'slow', 'fails', 'snoozes', 'releases', 'discards'] as const),
  ...(['transacts', 'transacts', 'blocks', 'exhausts', 'steps', 'steps', 'fans-out', 'waits', 'waits'] as const),
];

export interface TortureJob {
  /** Unique, so that duplicates of a job are detected. */
  readonly token: string;
  readonly kind: (typeof KINDS)[number];
}

/** A queue with a limit of active jobs, and with a schedule. */
export const LIMITED_QUEUE = 'limited';
export const MAX_RUNNING = 8;
/** A queue with groups, each of which runs one job at a time. */
export const GROUPED_QUEUE = 'grouped';
export const GROUPS = 20;
/** The time between two ticks of the schedule. */
export const TICK_MS = 250;
/** A job of kind `waits` waits for the signal of this name, whose key is its token. */
export const SIGNAL = 'go';
export const NO_SIGNAL = 'the signal did not come';
/** The children of a job that fans out. Their tokens have this mark and a number behind the token of the job. */
export const CHILDREN = 2;
export const CHILD_MARK = '/';
