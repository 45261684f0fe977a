import { latencies } from '../core/statistics.mjs';
import { drain } from './drain.mjs';

// One drain makes about a hundred claims, whose 99th percentile is mostly chance.
const TURNS_OF_OURS = 3;

/**
 * Drains without and with a burden on the database, in turns. For this library it also measures how long claims take,
 * over all turns together.
 */
export async function beside({ trial, contestant, ...given }, burden) {
  const all = { workers: 1, timeClaims: Boolean(contestant.ours), ...given };
  const turns = { alone: [], among: [] };
  for (let turn = 0; turn < (contestant.ours ? TURNS_OF_OURS : 1); turn++) {
    turns.alone.push(await trial((run) => drain(run, all)));
    turns.among.push(await trial((run) => drain(run, { ...all, ...burden })));
  }
  const [alone, among] = [together(turns.alone), together(turns.among)];
  return { void: alone.void ?? among.void, alone, among };
}

/** The median drain, with the claims of all. */
function together(drains) {
  const middle = [...drains].sort((a, b) => a.jobsPerSecond - b.jobsPerSecond)[drains.length >> 1];
  const claims = drains.flatMap((one) => one.claims ?? []);
  return {
    ...middle,
    void: drains.find((one) => one.void)?.void ?? null,
    again: Math.max(...drains.map((one) => one.again)),
    claims: claims.length > 0 ? latencies(claims) : undefined,
  };
}

/** For `before`: opens a transaction whose snapshot is the filled queue. */
export async function openSnapshot(trial) {
  trial.onEnd(await trial.server.snapshot(trial.place.name));
}
