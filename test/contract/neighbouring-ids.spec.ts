import { claimRequest, completionBatchOf, idsOf, outcomes, completionOf, type Claim } from '../support/jobs.js';
import { describeStrategies, type World } from '../support/stores.js';

// Statements name neighbouring ids as ranges. These are positions among ten jobs, in the order of their use.
const PLACES = [
  [5],
  [4, 5],
  [4, 5, 6],
  [6, 4, 5],
  [1, 2, 3, 7, 8, 9],
  [9, 1, 3, 2, 8, 7],
  [10, 2, 4, 6, 8],
  [3, 2, 1, 5, 6, 8, 10],
  [2, 9],
  [1, 10, 2, 9, 3, 8],
];
const FAR_MS = 1e10;

describeStrategies('a statement on jobs with neighbours', (setup) => {
  it.each(Object.keys(outcomes) as (keyof typeof outcomes)[])(
    'changes only these jobs with their outcomes (%s)',
    async (kind) => {
      const world = await setup();
      for (const places of PLACES) {
        const { taken, bystanders } = await claimAmongOthers(world, places);
        const before = await world.sql('SELECT * FROM sql_queue_history');

        await world.jobs.complete(completionBatchOf(taken.jobs.map((job) => completionOf(taken, job, outcomes[kind]))));

        expect({ places, rows: await rowsOf(world, bystanders.ids) }).toEqual({ places, rows: bystanders.rows });
        expect({ places, active: await readClaimedRows(world, taken) }).toEqual({ places, active: [] });
        const finished = ['complete', 'dead', 'cancel'].includes(kind) ? taken.jobs.length : 0;
        expect(await world.sql('SELECT id FROM sql_queue_history')).toHaveLength(before.length + finished);
      }
    },
  );

  it('claims only these jobs', async () => {
    const world = await setup();
    for (const places of PLACES) {
      const ids = await tenJobs(world, (place) => {
        if (places.includes(place)) return {};
        return [{ priority: 9 }, { queue: 'other' }, { delayMs: FAR_MS }, { priority: 1 }][place % 4]!;
      });
      // Another worker has claimed some of the other jobs.
      await world.jobs.claim(claimRequest({ queue: 'other', workerId: 'other' }));
      const others = ids.filter((_, n) => !places.includes(n + 1));
      const before = await rowsOf(world, others);

      const { jobs } = await world.claim({ limit: places.length });

      const wanted = places.map((place) => ids[place - 1]!).sort((a, b) => a - b);
      expect({ places, ids: idsOf(jobs) }).toEqual({ places, ids: wanted });
      expect({ places, rows: await rowsOf(world, others) }).toEqual({ places, rows: before });
      await world.sql('DELETE FROM sql_queue_jobs');
    }
  });

  it('promotes only these jobs', async () => {
    const world = await setup();
    for (const places of PLACES) {
      const ids = await tenJobs(world, (place) => {
        // The order of the due times differs from the order of the ids.
        if (places.includes(place)) return { delayMs: 1_000 + places.indexOf(place) };
        return [{ delayMs: 5_000 }, { delayMs: FAR_MS }, {}, { queue: 'other' }][place % 4]!;
      });
      const others = ids.filter((_, n) => !places.includes(n + 1));
      await world.jobs.claim(claimRequest({ queue: 'other', workerId: 'other' }));
      const before = await rowsOf(world, others);

      world.advance(10_000);
      const { length: promoted } = await world.jobs.promote(places.length);

      expect(promoted).toBe(places.length);
      expect({ places, rows: await rowsOf(world, others) }).toEqual({ places, rows: before });
      await world.sql('DELETE FROM sql_queue_jobs');
    }
  });

  it('prunes only these jobs', async () => {
    const world = await setup();
    for (const places of PLACES) {
      const ids = await tenJobs(world, () => ({}));
      const taken = await world.claim({ limit: 10 });
      const keepMs = (place: number) =>
        places.includes(place) ? 1_000 + places.indexOf(place) : [5_000, FAR_MS][place % 2]!;
      await world.jobs.complete(
        completionBatchOf(
          taken.jobs.map((job, n) => completionOf(taken, job, outcomes.complete, { retentionMs: keepMs(n + 1) })),
        ),
      );

      world.advance(10_000);
      const pruned = await world.jobs.prune(places.length);

      const left = await world.sql<{ id: number }>('SELECT id FROM sql_queue_history ORDER BY id');
      expect(pruned).toBe(places.length);
      expect({ places, ids: left.map(({ id }) => Number(id)) }).toEqual({
        places,
        ids: ids.filter((_, n) => !places.includes(n + 1)),
      });
      await world.sql('DELETE FROM sql_queue_history');
    }
  });

  it('completes the other jobs if one of them was lost', async () => {
    const world = await setup();
    for (const places of PLACES) {
      const { taken, bystanders } = await claimAmongOthers(world, places);
      const gone = taken.jobs[Math.floor(places.length / 2)]!;
      await world.jobs.complete(
        completionBatchOf([completionOf(taken, gone, { ...outcomes.snooze, delayMs: FAR_MS })]),
      );

      const { lost } = await world.jobs.complete(completionBatchOf(taken.jobs.map((job) => completionOf(taken, job))));

      expect(Array.from(lost, ({ job }) => job.id)).toEqual([gone.id]);
      expect({ places, rows: await rowsOf(world, bystanders.ids) }).toEqual({ places, rows: bystanders.rows });
      expect(await world.admin.get(gone.id)).toMatchObject({ state: 'scheduled' });
    }
  });
});

/** Creates ten jobs with neighbouring ids, with the fields for each position from 1 to 10. */
function tenJobs({ put }: World, given: (place: number) => object): Promise<number[]> {
  return put(...Array.from({ length: 10 }, (_, n) => given(n + 1)));
}

/**
 * Creates ten jobs and claims those at the given positions, in that order. Their neighbours are active jobs of the same
 * claim, jobs of another worker, and waiting jobs.
 */
async function claimAmongOthers(world: World, places: readonly number[]) {
  const { sql, claim } = world;
  for (const table of ['jobs', 'claims']) await sql(`DELETE FROM sql_queue_${table}`);
  const kinds = ['of the same claim', 'of somebody else', 'waiting'];
  const priorityOf = (place: number) => (places.includes(place) ? 0 : 1 + (place % kinds.length));
  const ids = await tenJobs(world, (place) => ({ priority: priorityOf(place) }));
  const own = ids.filter((_, n) => priorityOf(n + 1) <= 1).length;
  const whole = await claim({ limit: own });
  const theirs = ids.filter((_, n) => priorityOf(n + 1) === 2).length;
  if (theirs > 0) await claim({ limit: theirs, workerId: 'somebody else' });
  const byId = new Map(whole.jobs.map((job) => [job.id, job]));
  const taken: Claim = { ...whole, jobs: places.map((place) => byId.get(ids[place - 1]!)!) };
  const others = ids.filter((_, n) => !places.includes(n + 1));
  return { taken, bystanders: { ids: others, rows: await rowsOf(world, others) } };
}

function rowsOf({ sql }: World, ids: readonly number[]): Promise<unknown[]> {
  return sql(`SELECT * FROM sql_queue_jobs WHERE id IN (${ids.join()}) ORDER BY id`);
}

/** Returns the rows of these jobs that still have the id of the claim. */
function readClaimedRows({ sql }: World, { id, jobs }: Claim): Promise<unknown[]> {
  return sql(`SELECT id FROM sql_queue_jobs WHERE claim_id = ${id} AND id IN (${idsOf(jobs).join()})`);
}
