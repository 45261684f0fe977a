import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { contestants } from '../contestants/index.mjs';
import { scenarios } from '../scenarios/index.mjs';

// Those whose programs work with tables of any version.
const COMPARED = ['enqueue-50', 'bulk', 'drain-1', 'drain-2', 'drain-c10', 'latency-idle', 'steady', 'payload-50k'];
const COMPARED_REPEATS = 8;

export const USAGE = `npm run bench [-- OPTION...]

  --scenario a,b      only these scenarios: ${list(scenarios)}
  --contestant a,b    only these contestants: ${list(contestants)}
  --repeats n         runs of every scenario; default: set by each scenario
  --scale f           numbers of jobs and rows, times f; default 1
  --quick             scale 0.2, one run each, shorter times
  --library folder    a checkout of the library to pack and measure; default: the one of this folder
  --base commit       measures this commit of the library in turn with it, instead of the peers, and prints ratios. The
                      exit code is 1 if a median is worse than --tolerance, or a job was lost or ran twice. Default
                      scenarios: ${COMPARED.join(', ')}; default repeats: 8
  --tolerance n       in percent; default 5
  --help              this text`;

/** Parses the command line. Throws a UsageError if it is invalid. */
export function readOptions(args) {
  const { values } = parse(args);
  const quick = values.quick ?? false;
  const { base } = values;
  const allScenarios = base ? scenarios.filter(({ id }) => COMPARED.includes(id)) : scenarios;
  const allContestants = base ? contestants.filter(({ ours, variant }) => ours && !variant) : contestants;
  const defaultRepeats = base ? COMPARED_REPEATS : undefined;
  return {
    help: values.help ?? false,
    base,
    tolerance: values.tolerance === undefined ? 5 : whole('--tolerance', values.tolerance),
    scenarios: chosen('--scenario', values.scenario, allScenarios),
    contestants: chosen('--contestant', values.contestant, allContestants),
    repeats: values.repeats === undefined ? (quick ? 1 : defaultRepeats) : whole('--repeats', values.repeats),
    scale: values.scale === undefined ? (quick ? 0.2 : 1) : positive('--scale', values.scale),
    timeScale: quick ? 0.25 : 1,
    library: checkout(values.library),
  };
}

function parse(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  const options = {
    scenario: text,
    contestant: text,
    repeats: text,
    scale: text,
    quick: flag,
    library: text,
    base: text,
    tolerance: text,
    help: flag,
  };
  try {
    return parseArgs({ args, options });
  } catch (error) {
    throw new UsageError(error.message);
  }
}

/** The command line is invalid. */
export class UsageError extends Error {}

function chosen(option, text, all) {
  if (text === undefined) return all;
  const wanted = text.split(',').filter(Boolean);
  const unknown = wanted.filter((id) => !all.some((one) => one.id === id));
  if (unknown.length > 0 || wanted.length === 0) {
    throw new UsageError(`${option}: expected one or more of ${list(all)}; got "${unknown.join(',') || text}"`);
  }
  return all.filter(({ id }) => wanted.includes(id));
}

function whole(option, text) {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new UsageError(`${option}: expected a whole number from 1 to 999, got "${text}"`);
}

function positive(option, text) {
  const number = Number(text);
  if (number >= 0.001 && number <= 10) return number;
  throw new UsageError(`${option}: expected a number from 0.001 to 10, got "${text}"`);
}

function checkout(folder) {
  if (folder === undefined || existsSync(join(folder, 'scripts/pack.mjs'))) return folder;
  throw new UsageError(`--library: expected a checkout of the library, found no ${join(folder, 'scripts/pack.mjs')}`);
}

function list(all) {
  return all.map(({ id }) => id).join(', ');
}
