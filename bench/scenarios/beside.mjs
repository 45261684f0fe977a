import { latencies } from '../core/statistics.mjs';
import { drain } from './drain.mjs';

// Of a hundred claims, as one drain makes, the 99th percentile is the longest or nearly so: chance, for the most part.
const TURNS_OF_OURS = 3;

/**
 * The same drain without and with a burden on the database, in turns; ours also with how long its claims take, over all
 * turns together.
 */
export async function beside({ trial, contestant, ...given }, burden) {
  const all = { workers: 1, timeClaims: Boolean(contestant.ours), ...given };
  const turns = { alone: [], among: [] };
  for (let turn = 0; turn < (contestant.ours ? TURNS_OF_OURS : 1); turn++) {
    turns.alone.push(await trial((its) => drain(its, all)));
    turns.among.push(await trial((its) => drain(its, { ...all, ...burden })));
  }
  const [alone, among] = [together(turns.alone), together(turns.among)];
  return { void: alone.void ?? among.void, alone, among };
}

/** The drain that was in the middle, with the claims of all. */
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

/** To be given as `before`: a transaction that sees the queue as it is when it has been filled. */
export async function openSnapshot(trial) {
  trial.onEnd(await trial.server.snapshot(trial.place.name));
}
