/**
 * Adds up the workers' counts, job by job. A job that ran twice, or did not run although all jobs had to, voids the
 * figure: a queue that is fast because it loses or repeats work is not fast.
 */
export class Ledger {
  handled = 0;
  doubled = 0;
  missing = 0;
  /** The start times of all jobs that ran, in order. */
  startedAt;
  /** The time at which each worker with jobs has started its first one. */
  allStartedAt;

  /** @param counts the result of each worker's `stop` */
  constructor(counts, indexes) {
    const times = [];
    for (let index = 0; index < indexes; index++) {
      let runs = 0;
      let firstStart = Infinity;
      for (const count of counts) {
        // A worker's counts end with its highest index.
        if (!count.runs[index]) continue;
        runs += count.runs[index];
        firstStart = Math.min(firstStart, count.startedAt[index]);
      }
      if (runs === 0) this.missing++;
      else times.push(firstStart);
      if (runs > 1) this.doubled++;
      this.handled += runs;
    }
    this.startedAt = Float64Array.from(times).sort();
    this.allStartedAt = Math.max(...counts.map(({ runs, startedAt }) => firstOf(startedAt.filter((_, i) => runs[i]))));
  }

  /** The reason why the figure is void, or null. `left` is the contestant's own count of its remaining jobs. */
  problem(left) {
    const problems = [];
    if (this.doubled > 0) problems.push(`${this.doubled} jobs ran more than once`);
    if (this.missing > left) problems.push(`${this.missing - left} jobs were lost`);
    return problems.length === 0 ? null : problems.join(', ');
  }

  /**
   * The number of jobs that ran and are still in the queue after a worker was stopped, and will run again. "At least
   * once" allows this, so the report mentions it and the figure stays valid.
   */
  again(left) {
    return Math.max(0, left - this.missing);
  }
}

function firstOf(times) {
  return times.reduce((first, time) => Math.min(first, time), times.length > 0 ? Infinity : -Infinity);
}
