import { connectionThrough, describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { processesOf } from '../support/processes.js';
import { WireProxy } from '../support/wire-proxy.js';
import { mainly } from '../support/servers.js';

const AT_ONCE = 6;
const LEASE = { lease: '1s' } as const;
/** Three jobs, one after them that fans out into two, and one after that. */
const RUN_ONCE = [0, 1, 2, 3, 4, 100, 101];

describeEngines(
  'flows',
  (setup) => {
    it('run each job once, after those that it needs, if the worker is killed after any statement', async () => {
      let last = 0;
      for (let first = 1; last === 0; first += AT_ONCE) {
        const killAfter = Array.from({ length: AT_ONCE }, (_, n) => first + n);
        const runs = await Promise.all(killAfter.map(async (n) => killedRun(await setup(), n)));
        for (const [index, { log, wasKilled }] of runs.entries()) {
          const title = `killed after statement ${killAfter[index]}: ${log.join()}`;
          expect([title, [...log].sort((a, b) => a - b)]).toEqual([title, RUN_ONCE]);
          const position = (job: number) => log.indexOf(job);
          const isOrdered =
            Math.max(...[0, 1, 2].map(position)) < Math.min(position(100), position(101)) &&
            Math.max(position(100), position(101)) < position(3) &&
            position(3) < position(4);
          expect([title, isOrdered]).toEqual([title, true]);
          if (!wasKilled) last = killAfter[index]!;
        }
      }
      expect(last).toBeGreaterThan(30);
    }, 1_800_000);
  },
  mainly('mariadb'),
);

/** Runs a flow, whose worker is killed when the server receives its n-th statement from the first claim on. */
async function killedRun(world: World, n: number): Promise<{ log: number[]; wasKilled: boolean }> {
  await world.sql('CREATE TABLE flow_log (id INT AUTO_INCREMENT PRIMARY KEY, job INT NOT NULL)');
  const proxy = await WireProxy.open((world.connection as { url: string }).url);
  world.afterTest(() => proxy.close());
  const behind = { ...world, connection: { ...world.connection, ...connectionThrough(world.connection, proxy.port) } };
  const doomed = await (await processesOf(behind)).worker({ queue: LEASE });
  let statements = 0;
  let wasKilled = false;
  proxy.onStatement(({ sql }) => {
    if (statements === 0 && !sql.includes('sql_queue_edges')) return 'pass';
    if (++statements === n) {
      wasKilled = true;
      doomed.signal('SIGKILL');
    }
    return 'pass';
  });
  const { producer, flows } = await world.start({ autoStart: false });
  const { jobs } = await producer.flow((flow) => {
    const first = flow.addMany('q', [{ flow: 0 }, { flow: 1 }, { flow: 2 }]);
    const parent = flow.add('q', { flow: 3, children: 2 }, { after: first });
    flow.add('q', { flow: 4 }, { after: parent });
  });
  const isDone = async () =>
    (await world.sql(`SELECT id FROM sql_queue_history WHERE state = 'completed' AND id = ${jobs.at(-1)!.id}`))
      .length === 1;
  await eventually(async () => wasKilled || (await isDone()));
  if (wasKilled) {
    await doomed.ended;
    const next = await (await processesOf(world)).worker({ queue: LEASE });
    // Workers sweep every minute, which would take too long here.
    await eventually(async () => {
      await flows.sweep(() => 60_000);
      return isDone();
    });
    await next.stop();
  }
  const log = await world.sql<{ job: number }>('SELECT job FROM flow_log ORDER BY id');
  return { log: log.map(({ job }) => job), wasKilled };
}
