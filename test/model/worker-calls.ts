import { BACKOFF_MS, LEASE_MS, type Actor } from './actor.js';
import type { Hold } from './gate.js';
import { signalOf } from './script.js';
import type { World } from './world.js';

/** A claim, and whether the model allows it. */
export async function claim(
  world: World,
  by: number,
  queue: string,
  limit: number,
  held?: Hold | number,
): Promise<void> {
  const { model } = world;
  const startMs = world.nowMs;
  await world.call(
    by,
    `claim of ${queue}`,
    async (claimer, begun, sinceMs) => {
      const jobs = await claimer.claim(queue, limit);
      // A held statement may have set the lease at any time of the call.
      const lease = { earliest: sinceMs() + LEASE_MS, latest: Math.max(startMs, world.nowMs) + LEASE_MS };
      for (const text of model.claimed(by, jobs, begun, world.nowMs, lease)) world.problem(text);
    },
    { hold: held, mustNotWait: true },
  );
}

/** Runs the handler of a held job to the end, unless a statement is held. */
export async function work(world: World, by: number, nth: number, held?: Hold | number): Promise<void> {
  const jobs = world.heldBy(by);
  const [next] = jobs.splice(nth % jobs.length, 1);
  const { model } = world;
  const { id } = next!.job;
  const job = model.jobs.get(id);
  job?.touch(model.now);
  await world.call(
    by,
    `work of job ${id}`,
    async (worker: Actor, begun, sinceMs) => {
      // The claim may end with the first statements of the outcome.
      const isOwn = job?.run?.actor === by;
      if (job) job.mayHaveEnded = true;
      if (job && isOwn) job.run = undefined;
      const sentBefore = new Map(model.signals);
      const { outcome, isLost } = await worker.work(next!);
      if (!job || isLost) return;
      job.touch(model.now);
      job.mayHaveEnded = false;
      switch (outcome.kind) {
        case 'complete':
        case 'dead':
        case 'cancel':
          return job.end(outcome.kind, begun, model.now);
        case 'retry':
          return job.restrict(sinceMs() + BACKOFF_MS, begun, model.now);
        case 'snooze': {
          const { untilMs, delayMs, signal } = outcome;
          const waitsFor = signalOf(job.v);
          job.isWaiting = signal !== undefined;
          // A signal that was sent meanwhile wakes the job.
          if (signal !== undefined && model.signals.get(waitsFor) !== sentBefore.get(waitsFor)) return;
          job.restrict(untilMs ?? sinceMs() + delayMs, begun, model.now);
          if (signal !== undefined) job.waitsFor = waitsFor;
          return;
        }
        case 'block':
          return world.discover(id);
        case 'release':
          return;
      }
    },
    { hold: held, mustNotWait: !world.mayKeep(id) },
  );
}

/** Jobs of lapsed leases may run again, and may have ended. */
export function freeLapsed(world: World): void {
  for (const job of world.model.jobs.values()) {
    if (!job.run || job.run.leaseUntil > world.nowMs + 60_000) continue;
    job.run = undefined;
    job.mayHaveEnded = true;
    job.free(world.model.now);
  }
}
