import { readFileSync, readdirSync } from 'node:fs';
import { now } from './clock.mjs';

const TICKS_PER_SECOND = 100;
const SAMPLE_EVERY_MS = 200;

/** CPU seconds of a process, its threads and its children, including those that have ended. */
export function cpuSeconds(pid) {
  let ticks = 0;
  for (const each of family(pid)) {
    const stat = read(`/proc/${each}/stat`);
    if (!stat) continue;
    // The name in brackets may contain spaces, so fields are counted from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]);
  }
  return ticks / TICKS_PER_SECOND;
}

/** Samples the CPU time of groups of processes, so that any interval of a run can be read afterwards. */
export class CpuMeter {
  #groups;
  #samples = [];
  #timer;

  /** @param groups `{ name: [pid, …] }` */
  constructor(groups) {
    this.#groups = groups;
    this.#sample();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_EVERY_MS);
  }

  stop() {
    clearInterval(this.#timer);
    this.#sample();
  }

  /** CPU seconds of each group between two times. */
  between(from, to) {
    return Object.fromEntries(
      Object.keys(this.#groups).map((name) => [name, this.#at(name, to) - this.#at(name, from)]),
    );
  }

  #sample() {
    const sums = Object.entries(this.#groups).map(([name, pids]) => [
      name,
      pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    ]);
    this.#samples.push({ at: now(), ...Object.fromEntries(sums) });
  }

  #at(name, moment) {
    const after = this.#samples.findIndex(({ at }) => at >= moment);
    if (after === 0) return this.#samples[0][name];
    if (after < 0) return this.#samples.at(-1)[name];
    const [a, b] = [this.#samples[after - 1], this.#samples[after]];
    return a[name] + ((b[name] - a[name]) * (moment - a.at)) / (b.at - a.at);
  }
}

function family(pid) {
  const found = [pid];
  for (let i = 0; i < found.length; i++) {
    for (const thread of list(`/proc/${found[i]}/task`)) {
      const children = read(`/proc/${found[i]}/task/${thread}/children`) ?? '';
      found.push(...children.split(' ').filter(Boolean));
      // Only the first thread of these programs forks, and a program may have hundreds of threads.
      break;
    }
  }
  return found;
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // The process has ended, and its parent's time includes its own.
  }
}

function list(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
