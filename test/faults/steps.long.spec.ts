import { connectionThrough, describeEngines, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { processesOf } from '../support/processes.js';
import { WireProxy } from '../support/wire-proxy.js';
import { mainly } from '../support/servers.js';

const AT_ONCE = 6;

describeEngines(
  'steps',
  (setup) => {
    it('with a transaction run once, and others at most once more, if the worker is killed after any statement', async () => {
      let last = 0;
      for (let first = 1; last === 0; first += AT_ONCE) {
        const killAfter = Array.from({ length: AT_ONCE }, (_, n) => first + n);
        const runs = await Promise.all(killAfter.map(async (n) => killedRun(await setup(), n)));
        for (const [index, { log, wasKilled }] of runs.entries()) {
          const atMost = wasKilled ? 2 : 1;
          const title = `killed after statement ${killAfter[index]}: ${log.join()}`;
          const wrong = [1, 2, 3, 4, 5].filter((step) => {
            const count = log.filter((one) => one === step).length;
            return count < 1 || count > (step % 2 ? atMost : 1);
          });
          expect([title, wrong]).toEqual([title, []]);
          if (!wasKilled) last = killAfter[index]!;
        }
      }
      // Each step sends several statements.
      expect(last).toBeGreaterThan(20);
    }, 1_800_000);
  },
  mainly('mysql'),
);

/** Runs one job with steps, whose worker is killed when the server receives its n-th statement from the first step on. */
async function killedRun(world: World, n: number): Promise<{ log: number[]; wasKilled: boolean }> {
  await world.sql('CREATE TABLE step_log (step INT NOT NULL)');
  const proxy = await WireProxy.open((world.connection as { url: string }).url);
  world.afterTest(() => proxy.close());
  const behind = { ...world, connection: { ...world.connection, ...connectionThrough(world.connection, proxy.port) } };
  const doomed = await (await processesOf(behind)).worker({ queue: { lease: '3s' } });
  let statements = 0;
  let wasKilled = false;
  proxy.onStatement(({ sql }) => {
    if (statements === 0 && !sql.includes('sql_queue_steps')) return 'pass';
    if (++statements === n) {
      wasKilled = true;
      doomed.signal('SIGKILL');
    }
    return 'pass';
  });
  const { producer } = await world.start({ autoStart: false });
  const { id } = await producer.enqueue('q', { steps: true });
  const isDone = async () =>
    (await world.sql(`SELECT id FROM sql_queue_history WHERE state = 'completed' AND id = ${id}`)).length === 1;
  await eventually(async () => wasKilled || (await isDone()));
  if (wasKilled) {
    await doomed.ended;
    const next = await (await processesOf(world)).worker({ queue: { lease: '3s' } });
    await eventually(isDone);
    await next.stop();
  }
  const log = await world.sql<{ step: number }>('SELECT step FROM step_log ORDER BY step');
  return { log: log.map(({ step }) => step), wasKilled };
}
