import { drain } from './drain.mjs';

/** The same drain twice, without and with a burden on the database; ours also with how long its claims take. */
export async function beside({ trial, contestant, ...given }, burden) {
  const all = { workers: 1, timeClaims: Boolean(contestant.ours), ...given };
  const alone = await trial((its) => drain(its, all));
  const among = await trial((its) => drain(its, { ...all, ...burden }));
  return { void: alone.void ?? among.void, alone, among };
}

/** To be given as `before`: a transaction that sees the queue as it is when it has been filled. */
export async function openSnapshot(trial) {
  trial.onEnd(await trial.server.snapshot(trial.place.name));
}
