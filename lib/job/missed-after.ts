/** A tick without a job after this time is missed. Until then it is only late, and runs with every policy. */
export const MISSED_AFTER_MS = 60_000;
