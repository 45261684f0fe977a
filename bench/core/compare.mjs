import { describeQuartiles } from '../../scripts/quartiles.mjs';
import { BASE_PACKAGE } from './library.mjs';
import { attempt, inShort, numbersOf, profileOf, takesPart } from './round-robin.mjs';
import { median } from './statistics.mjs';

/**
 * Measures the library and its base in turn, on the same servers, and prints the ratios of each pair of runs. Every other
 * pair begins with the base, because the first run of a pair may find the servers in another state. Resolves with whether
 * no median is worse than the tolerance, and no figure is void.
 */
export async function compareAll({ run, servers, options, stopping }) {
  const rows = [];
  for (const scenario of options.scenarios) {
    const given = numbersOf(scenario, options);
    for (const contestant of options.contestants.filter((one) => takesPart(scenario, one))) {
      const pairs = [];
      for (let pair = 0; pair < options.repeats; pair++) {
        const results = {};
        for (const version of pair % 2 === 0 ? ['library', 'base'] : ['base', 'library']) {
          const entrant = version === 'base' ? withBase(contestant, profileOf(scenario, contestant)) : contestant;
          results[version] = await attempt({ run, servers, scenario, contestant: entrant, given });
          stopping.throwIfAborted();
        }
        console.error(
          `${scenario.id} ${pair + 1}/${options.repeats} ${contestant.id}: ${inShort(results.library)}, base ${inShort(results.base)}`,
        );
        pairs.push(results);
      }
      rows.push(rowOf(scenario, contestant, pairs, options.tolerance));
    }
  }
  console.log(
    `\n| scenario | contestant | speed ÷ base | CPU per job ÷ base | of our processes | of the server | |\n` +
      `| --- | --- | --- | --- | --- | --- | --- |`,
  );
  for (const { cells } of rows) console.log(`| ${cells.join(' | ')} |`);
  return rows.every(({ isGood }) => isGood);
}

/** The same contestant, whose processes load the base. */
function withBase(contestant, profile) {
  const settings = contestant.settings[profile];
  const env = { ...settings.env, BENCH_PACKAGE: BASE_PACKAGE };
  return { ...contestant, settings: { ...contestant.settings, [profile]: { ...settings, env } } };
}

function rowOf(scenario, contestant, pairs, tolerance) {
  const problem = pairs
    .flatMap(({ library, base }) => [problemOf(library, ''), problemOf(base, 'base: ')])
    .find(Boolean);
  if (problem) return { isGood: false, cells: [scenario.id, contestant.id, '', '', '', '', problem] };
  const speeds = pairs.map(({ library, base }) => speedOf(library) / speedOf(base));
  const ofOurs = ({ workers = 0, producers = 0 }) => workers + producers;
  const costs = [(cpu) => ofOurs(cpu) + cpu.server, ofOurs, ({ server }) => server].map((partOf) =>
    costsOf(pairs, partOf),
  );
  const isGood = median(speeds) >= 1 - tolerance / 100;
  const cells = [
    ...[scenario.id, contestant.id, describeQuartiles(speeds), ...costs],
    isGood ? '' : `slower by more than ${tolerance} %`,
  ];
  return { isGood, cells };
}

function costsOf(pairs, partOf) {
  const costOf = ({ cpu, jobs }) => partOf(cpu) / jobs;
  const isMeasured = pairs.every(({ library, base }) => library.cpu && base.cpu);
  return isMeasured ? describeQuartiles(pairs.map(({ library, base }) => costOf(library) / costOf(base))) : '';
}

function problemOf(result, of) {
  const problem = result.failed ?? result.void;
  return problem && `${of}${problem.split('\n')[0]}`;
}

function speedOf({ jobsPerSecond, latency }) {
  return jobsPerSecond ?? 1 / latency.p50;
}
