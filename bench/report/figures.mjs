import { contestants } from '../contestants/index.mjs';
import { fingerprint } from '../core/fingerprint.mjs';
import { median, percentile } from '../core/statistics.mjs';

/** The result of one contestant's runs of one scenario: `of` reads a number from each run. */
export class Figure {
  /**
   * @param runs of one contestant, in the order of measuring
   * @param machine the machine of the last run of any contestant
   */
  constructor(id, contestant, runs, machine) {
    Object.assign(this, { id, contestant, runs });
    this.failed = runs.find((run) => run.failed)?.failed.split('\n')[0];
    // One run with a lost or doubled job is enough, because other losses may be undetected.
    this.void = runs.find((run) => run.void)?.void;
    this.counts = !this.failed && !this.void;
    this.isOld = runs.some(({ profile, made }) => made !== fingerprint(contestant, profile, machine));
  }

  /** The median, the quartiles and the range; null if the figure does not count or no run has the number. */
  of(read) {
    if (!this.counts) return null;
    const values = this.runs.map(read).filter((value) => typeof value === 'number');
    if (values.length === 0) return null;
    const [lower, upper] = [percentile(values, 0.25), percentile(values, 0.75)];
    return { median: median(values), lower, upper, least: Math.min(...values), most: Math.max(...values) };
  }
}

/** The figures of one scenario, ours first. */
export function figuresOf(data, scenario) {
  const { contestants: known, machine, runs: all } = data;
  const runs = all[scenario.id] ?? {};
  return contestants.filter(({ id }) => runs[id]).map(({ id }) => new Figure(id, known[id], runs[id], machine));
}

/** The best peer by a number, among those that `may` compete. */
export function bestPeer(figures, { read, less }, may = () => true) {
  const peers = figures.filter((figure) => isPeer(figure.contestant) && may(figure.contestant) && figure.of(read));
  const order = (a, b) => a.of(read).median - b.of(read).median;
  return peers.sort(less ? order : (a, b) => order(b, a))[0];
}

/** The baseline without a queue is no peer. */
const isPeer = ({ ours, baseline }) => !ours && !baseline;

export const isDurable = ({ durable }) => durable === true;
