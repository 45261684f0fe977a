import { describeStoresOf } from '../support/stores.js';
import { newJob } from '../support/jobs.js';

// On the other databases each statement is a round trip.
describeStoresOf(['sqlite'], 'verbs of many statements', (setup) => {
  it('let heartbeats run while they prune a large flow', async () => {
    const world = await setup();
    const jobs = Array.from({ length: 2_000 }, () => newJob({}));
    const edges = jobs.slice(1).map((_, index) => ({ job: index + 1, needs: 0, onFailure: 'run' as const }));
    await world.flows.create({ jobs, edges });
    await world.sql('DELETE FROM sql_queue_jobs');
    await world.sql('UPDATE sql_queue_flows SET expires_at = 0');
    const turns = countTurns();

    await world.flows.prune(10);

    expect(turns()).toBeGreaterThan(1);
    expect(await world.sql('SELECT * FROM sql_queue_edges')).toEqual([]);
  });

  it('let heartbeats run during many calls', async () => {
    const world = await setup();
    const turns = countTurns();

    for (let n = 0; n < 1_000; n++) await world.admin.setPaused([`q${n}`], true);

    expect(turns()).toBeGreaterThan(1);
  });
});

/** Counts the turns of the event loop from now on. */
function countTurns(): () => number {
  let turns = 0;
  let isCounting = true;
  const count = () => {
    turns++;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  return () => {
    isCounting = false;
    return turns;
  };
}
