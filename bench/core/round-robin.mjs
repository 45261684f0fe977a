import { now } from './clock.mjs';
import { fingerprint } from './fingerprint.mjs';
import { Trial } from './trial.mjs';

/**
 * Measures every scenario in turn; in each, all contestants once, then all again, so that other load of the machine
 * affects all alike. A failed run is part of the result and does not stop the others. Rejects once `stopping` is
 * aborted.
 */
export async function measureAll({ run, servers, options, results, stopping }) {
  for (const scenario of options.scenarios) {
    const entrants = options.contestants.filter((contestant) => takesPart(scenario, contestant));
    const repeats = options.repeats ?? scenario.repeats;
    const given = numbersOf(scenario, options);
    const keep = async (contestant, result) => {
      const profile = profileOf(scenario, contestant);
      const { contestants, machine } = results.data;
      const made = fingerprint(contestants[contestant.id], profile, machine);
      results.add(scenario.id, contestant.id, { at: new Date().toISOString(), profile, made, given, ...result });
      await results.write();
    };
    for (let repeat = 1; repeat <= repeats; repeat++) {
      const measureOne = async (contestant) => {
        const started = now();
        const result = await attempt({ run, servers, scenario, contestant, given });
        // An aborted run is no result of the contestant.
        stopping.throwIfAborted();
        const tookSeconds = Math.round((now() - started) / 100) / 10;
        await keep(contestant, { tookSeconds, ...result });
        console.log(`${scenario.id} ${repeat}/${repeats} ${contestant.id}: ${inShort(result)} (${tookSeconds} s)`);
      };
      if (scenario.together) await Promise.all(entrants.map(measureOne));
      else for (const contestant of entrants) await measureOne(contestant);
      await noteServers(servers, results);
    }
  }
}

export function takesPart(scenario, contestant) {
  if (contestant.only && !contestant.only.includes(scenario.id)) return false;
  if (profileOf(scenario, contestant) === undefined) return false;
  return scenario.takes?.(contestant) ?? true;
}

/** The name of the contestant's settings for the scenario, or undefined if it has none. */
export function profileOf({ profile, orElse }, { settings }) {
  return [profile, orElse].find((name) => name in settings);
}

export function numbersOf({ given = {}, scaled = {}, timed = {} }, { scale, timeScale }) {
  const times = (numbers, factor) =>
    Object.fromEntries(
      Object.entries(numbers).map(([name, number]) => [name, Math.max(1, Math.round(number * factor))]),
    );
  return { ...given, ...times(scaled, scale), ...times(timed, timeScale) };
}

export async function attempt({ run, servers, scenario, contestant, given }) {
  const trial = async (work) => {
    const current = await Trial.begin({
      ...{ run, servers, contestant, profile: profileOf(scenario, contestant) },
      instance: scenario.together ? `-${contestant.id}` : '',
    });
    try {
      return await work(current);
    } finally {
      await current.end();
    }
  };
  try {
    return await scenario.measure({ trial, contestant, ...given });
  } catch (error) {
    return { failed: error.message };
  }
}

async function noteServers(servers, results) {
  for (const { kind, version, settings } of await servers.all()) {
    results.data.servers[kind.id] = { title: kind.title, version, settings };
  }
  await results.write();
}

export function inShort(result) {
  if (result.failed) return `failed: ${result.failed.split('\n')[0]}`;
  if (result.void) return `void: ${result.void}`;
  const { jobsPerSecond, latency, alone, among, workerPercent } = result;
  if (jobsPerSecond !== undefined) return `${Math.round(jobsPerSecond)} jobs/s`;
  if (alone) return `${Math.round(alone.jobsPerSecond)} and ${Math.round(among.jobsPerSecond)} jobs/s`;
  if (latency) return `p50 ${latency.p50.toFixed(1)} ms, p99 ${latency.p99.toFixed(1)} ms`;
  return `worker ${workerPercent.toFixed(2)} %`;
}
