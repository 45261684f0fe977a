import type { JobContext } from '../../lib/worker/run/job-context.js';
import type { Engine } from './engine.js';
import { connectionThrough, type World } from './engines.js';
import { eventually } from './eventually.js';
import { CREATE_RUN_LOG, runLoggedJob, type LoggedJob } from './logged-jobs.js';
import { processesOf } from './processes.js';
import { isLongSet } from './servers.js';
import { WireProxy } from './wire-proxy.js';

const AT_ONCE = 6;
const LEASE_MS = 30_000;
const queue = { lease: LEASE_MS } as const;
/** The checks of a change count these only: other statements, half of them polls, leave the database as it was. */
const WRITE = /INSERT|UPDATE|DELETE|REPLACE|^COMMIT$/;

interface Scenario {
  /** A part of the first counted statement. */
  readonly from: string;
  /** Enqueues jobs of logged-jobs.ts, and returns the id of the one that ends last. */
  enqueue(engine: Engine): Promise<number>;
}

interface KilledRun {
  /** The entries of the run_log. */
  readonly log: readonly number[];
  readonly wasKilled: boolean;
}

/**
 * Runs the jobs with a worker that is killed when the server receives its first counted statement, then with one that is
 * killed at the second one, until a worker ends all jobs. Another worker ends the jobs of a killed one. Returns the runs
 * in this order.
 */
export async function killAtEachStatement(setup: () => Promise<World>, scenario: Scenario): Promise<KilledRun[]> {
  const lanes = await Promise.all(Array.from({ length: AT_ONCE }, async () => openLane(await setup(), scenario)));
  const runs: KilledRun[] = [];
  while (runs.every(({ wasKilled }) => wasKilled)) {
    const killAt = runs.length + 1;
    runs.push(...(await Promise.all(lanes.map((run, n) => run(killAt + n)))));
  }
  return runs;
}

/** A database, in which one run follows the other. */
async function openLane(world: World, { from, enqueue }: Scenario): Promise<(killAt: number) => Promise<KilledRun>> {
  await world.sql(CREATE_RUN_LOG);
  world.afterTest(() => world.sql('DROP TABLE run_log'));
  const proxy = await WireProxy.open((world.connection as { url: string }).url);
  world.afterTest(() => proxy.close());
  const connection = { ...world.connection, ...connectionThrough(world.connection, proxy.port) };
  const processes = await processesOf({ ...world, connection });
  const producing = await world.start({ autoStart: false });
  let skewMs = 0;

  return async (killAt) => {
    await world.sql('DELETE FROM run_log');
    const doomed = await processes.worker({ queue, skewMs });
    let statements = 0;
    let wasKilled = false;
    proxy.onStatement(({ sql }) => {
      if (statements === 0 && !sql.includes(from)) return 'pass';
      if (isLongSet && !WRITE.test(sql)) return 'pass';
      if (++statements === killAt) {
        wasKilled = true;
        doomed.signal('SIGKILL');
      }
      return 'pass';
    });
    const last = await enqueue(producing);
    const isDone = async () =>
      (await world.sql(`SELECT id FROM sql_queue_history WHERE state = 'completed' AND id = ${last}`)).length === 1;
    await eventually(async () => wasKilled || (await isDone()));
    if (wasKilled) {
      await doomed.ended;
      world.advance(LEASE_MS);
      skewMs += LEASE_MS;
      const heir = await world.start({
        queues: { q: queue },
        handlers: { q: (job) => runLoggedJob(job as JobContext<LoggedJob>, world.dataSource) },
      });
      // Workers sweep every minute, which would take too long here.
      await eventually(async () => {
        await producing.flows.sweep(() => 60_000);
        return isDone();
      });
      await heir.close();
    }
    const log = await world.sql<{ entry: number }>('SELECT entry FROM run_log ORDER BY id');
    return { log: log.map(({ entry }) => entry), wasKilled };
  };
}
