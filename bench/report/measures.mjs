import { fine, whole } from './numbers.mjs';

/** What a contestant is ranked by: how it is read from a run, whether less of it is better, how it is written. */
export const measures = {
  rate: { unit: 'jobs/s', read: (run) => run.jobsPerSecond, less: false, write: whole },
  latency: { unit: 'ms (p50)', read: (run) => run.latency?.p50, less: true, write: fine },
  pair: { unit: 'jobs/s', read: (run) => run.among?.jobsPerSecond, less: false, write: whole },
  idle: { unit: '% of a core', read: (run) => run.workerPercent + (run.serverPercent ?? 0), less: true, write: fine },
};

/** The first thing that a scenario shows is what decides. */
export function mainMeasure({ shows }) {
  return measures[shows[0]];
}
