/**
 * Adds up what the workers counted, job by job. A job that ran twice or, where all had to run, not at all voids the
 * figure: a queue that is fast because it loses or repeats work is not fast.
 */
export class Ledger {
  handled = 0;
  doubled = 0;
  missing = 0;
  /** When each job began that did, in order. */
  startedAt;
  /** When the last of the workers that got any began its first one. */
  allBeganAt;

  /** @param counts what `stop` of each worker answered */
  constructor(counts, indexes) {
    const times = [];
    for (let index = 0; index < indexes; index++) {
      let runs = 0;
      let began = Infinity;
      for (const count of counts) {
        // A worker's count ends with the highest index that it saw.
        if (!count.runs[index]) continue;
        runs += count.runs[index];
        began = Math.min(began, count.startedAt[index]);
      }
      if (runs === 0) this.missing++;
      else times.push(began);
      if (runs > 1) this.doubled++;
      this.handled += runs;
    }
    this.startedAt = Float64Array.from(times).sort();
    this.allBeganAt = Math.max(...counts.map(({ runs, startedAt }) => firstOf(startedAt.filter((_, i) => runs[i]))));
  }

  /** Why the figure is void, or null. `left` is how many jobs the contestant says it still has. */
  problem(left) {
    const problems = [];
    if (this.doubled > 0) problems.push(`${this.doubled} jobs ran more than once`);
    if (this.missing > left) problems.push(`${this.missing - left} jobs were lost`);
    return problems.length === 0 ? null : problems.join(', ');
  }

  /**
   * How many jobs ran and are in the queue all the same, after a worker was stopped in the middle: they will run again.
   * That is what "at least once" allows, so it is told and voids nothing.
   */
  again(left) {
    return Math.max(0, left - this.missing);
  }
}

function firstOf(times) {
  return times.reduce((first, time) => Math.min(first, time), times.length > 0 ? Infinity : -Infinity);
}
