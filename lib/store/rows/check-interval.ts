/**
 * Steps, subjects and flows outlive the rows of their jobs by about this time: so long after they are added, and after the
 * retention of their jobs, the pruner checks whether the jobs still exist.
 */
export const CHECK_INTERVAL_MS = 3_600_000;
