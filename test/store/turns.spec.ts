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

const COUNT = 6_000;

// On SQLite a transaction keeps the thread.
describeStoresOf(['mysql', 'mariadb'], 'a long list', (setup) => {
  it('of jobs of a flow is prepared in parts, between which the event loop runs', async () => {
    const world = await setup();
    const parts = countParts();

    await world.flows.create({ jobs: counted(newJob({}), 'priority', parts.count), edges: [] });

    expect(parts.longest()).toBeLessThanOrEqual(2_000);
  });

  it('of children is prepared in parts', async () => {
    const world = await setup();
    await world.put({});
    const claim = await world.claim();
    const owner = { jobId: claim.jobs[0]!.id, claimId: claim.id };
    const parts = countParts();

    await world.flows.fanOut(owner, 'step', counted(newJob({}), 'priority', parts.count), 'cancel', 1);

    expect(parts.longest()).toBeLessThanOrEqual(2_000);
  });

  it('of dependencies is prepared in parts', async () => {
    const world = await setup();
    const jobs = Array.from({ length: COUNT + 1 }, () => newJob({}));
    const parts = countParts();
    const edges = counted({ job: 0, needs: 0, onFailure: 'run' as const }, 'onFailure', parts.count);
    edges.forEach((edge, index) => Object.assign(edge, { job: index + 1, needs: index }));

    await world.flows.create({ jobs, edges });

    expect(parts.longest()).toBeLessThanOrEqual(2_000);
    const [stored] = await world.sql<{ count: number }>('SELECT COUNT(*) AS count FROM sql_queue_edges');
    // The flow waits for the last job.
    expect(Number(stored!.count)).toBe(COUNT + 1);
  });
});

/** Copies of `item` that call `count` when their property is read. */
function counted<Item extends object>(item: Item, property: keyof Item, count: () => void): Item[] {
  const get = () => {
    count();
    return item[property];
  };
  return Array.from({ length: COUNT }, () =>
    Object.defineProperty({ ...item }, property, { get, enumerable: true, configurable: true }),
  );
}

/** Counts calls of `count` in each turn of the event loop from now on. */
function countParts() {
  let [inTurn, longest, isCounting] = [0, 0, true];
  const onTurn = () => {
    longest = Math.max(longest, inTurn);
    inTurn = 0;
    if (isCounting) setImmediate(onTurn);
  };
  setImmediate(onTurn);
  return {
    count: () => void inTurn++,
    longest: () => {
      isCounting = false;
      return Math.max(longest, inTurn);
    },
  };
}

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
