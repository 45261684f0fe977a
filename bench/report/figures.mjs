import { contestants } from '../contestants/index.mjs';
import { fingerprint } from '../core/fingerprint.mjs';
import { median } from '../core/statistics.mjs';

/** What one contestant's runs of one scenario come to: `of` reads a number from a run. */
export class Figure {
  /** @param runs of one contestant, in the order of measuring */
  constructor(id, contestant, runs) {
    Object.assign(this, { id, contestant, runs });
    this.failed = runs.find((run) => run.failed)?.failed.split('\n')[0];
    // One run with a lost or doubled job is enough: what else the contestant lost nobody knows.
    this.void = runs.find((run) => run.void)?.void;
    this.counts = !this.failed && !this.void;
    this.isOld = runs.some(({ profile, made }) => made !== fingerprint(contestant, profile));
  }

  /** The median, the least and the most; null where the figure does not count or is not there. */
  of(read) {
    if (!this.counts) return null;
    const values = this.runs.map(read).filter((value) => typeof value === 'number');
    if (values.length === 0) return null;
    return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
  }
}

/** The figures of one scenario, ours first. */
export function figuresOf(data, scenario) {
  const runs = data.runs[scenario.id] ?? {};
  return contestants.filter(({ id }) => runs[id]).map(({ id }) => new Figure(id, data.contestants[id], runs[id]));
}

/** The peer that is best by a number, among those that `may` compete. */
export function bestPeer(figures, { read, less }, may = () => true) {
  const peers = figures.filter((figure) => isPeer(figure.contestant) && may(figure.contestant) && figure.of(read));
  const order = (a, b) => a.of(read).median - b.of(read).median;
  return peers.sort(less ? order : (a, b) => order(b, a))[0];
}

/** What has no queue at all competes with nobody. */
const isPeer = ({ ours, baseline }) => !ours && !baseline;

export const isDurable = ({ durable }) => durable === true;
