import { LEASE_MS, outcomes, rescueRules, completionOf } from '../support/jobs.js';
import { describeStrategies, type World } from '../support/stores.js';

describeStrategies('a completion in the transaction of its handler', (setup) => {
  async function setupNotes(): Promise<World & { notes(): Promise<string[]> }> {
    const world = await setup();
    await world.sql('CREATE TABLE IF NOT EXISTS notes (text VARCHAR(50) NOT NULL)');
    await world.sql('DELETE FROM notes');
    const notes = async () => (await world.sql<{ text: string }>('SELECT text FROM notes')).map(({ text }) => text);
    return { ...world, notes };
  }

  it('commits together with the handler’s writes', async () => {
    const { put, claim, jobs, admin, notes } = await setupNotes();
    const [id] = await put({});
    const taken = await claim();

    const value = await jobs.completeWith(async (manager) => {
      await manager.query("INSERT INTO notes (text) VALUES ('written')");
      const outcome = { kind: 'complete', result: '"é😀"' } as const;
      return { value: 42, completion: completionOf(taken, taken.jobs[0]!, outcome) };
    });

    expect(value).toBe(42);
    expect(await notes()).toEqual(['written']);
    expect(await admin.get(id!)).toMatchObject({ state: 'completed', result: 'é😀' });
  });

  it('is rolled back with the handler’s writes if the handler throws', async () => {
    const { put, claim, jobs, admin, notes } = await setupNotes();
    const [id] = await put({});
    await claim();

    const work = jobs.completeWith(async (manager) => {
      await manager.query("INSERT INTO notes (text) VALUES ('written')");
      throw new Error('no');
    });

    await expect(work).rejects.toThrow('no');
    expect(await notes()).toEqual([]);
    expect(await admin.get(id!)).toMatchObject({ state: 'active' });
  });

  it('is rolled back with the handler’s writes if the lease was lost', async () => {
    const { put, claim, jobs, admin, notes, advance } = await setupNotes();
    const [id] = await put({});
    const taken = await claim();
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());
    const next = await claim({ workerId: 'next' });

    const work = jobs.completeWith(async (manager) => {
      await manager.query("INSERT INTO notes (text) VALUES ('written')");
      return { value: 1, completion: completionOf(taken, taken.jobs[0]!, outcomes.complete) };
    });

    await expect(work).rejects.toMatchObject({ code: 'LEASE_LOST', jobId: id });
    expect(await notes()).toEqual([]);
    expect(await admin.get(id!)).toMatchObject({ state: 'active', worker: next.workerId });
  });

  it('leaves an empty claim, which can be deleted', async () => {
    const { put, claim, jobs, sql } = await setupNotes();
    await put({});
    const taken = await claim();
    await jobs.completeWith(() => Promise.resolve({ value: 1, completion: completionOf(taken, taken.jobs[0]!) }));

    await jobs.deleteEmptyClaims([taken.id]);

    expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });
});
