import { fine, whole } from './numbers.mjs';

/** The measures that rank contestants: how to read and write them, and whether less is better. */
export const measures = {
  rate: { unit: 'jobs/s', read: (run) => run.jobsPerSecond, less: false, write: whole },
  latency: { unit: 'ms (p50)', read: (run) => run.latency?.p50, less: true, write: fine },
  pair: { unit: 'jobs/s', read: (run) => run.among?.jobsPerSecond, less: false, write: whole },
  idle: { unit: '% of a core', read: (run) => run.workerPercent + (run.serverPercent ?? 0), less: true, write: fine },
};

/** The first measure of a scenario ranks its contestants. */
export function mainMeasure({ shows }) {
  return measures[shows[0]];
}
