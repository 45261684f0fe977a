import {
  ERROR,
  finalBatchOf,
  completionBatchOf,
  idsOf,
  LEASE_MS,
  outcomes,
  rescueRules,
  completionOf,
} from '../support/jobs.js';
import { describeStrategies, describeStoresOf } from '../support/stores.js';

describeStrategies('a rescue', (setup) => {
  it('rescues jobs whose lease has expired, and no others', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({}, {});
    const short = await claim({ leaseMs: 1_000 });
    await claim({ leaseMs: 60_000 });

    advance(1_000);
    const rescued = await jobs.rescue(rescueRules());

    expect(rescued.map(({ job }) => job.id)).toEqual(idsOf(short.jobs));
    expect(rescued[0]?.job).toMatchObject({ queue: 'q', name: 'default', workerId: 'worker-1', attempt: 1 });
  });

  it('leaves the claims that its own process holds', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({}, {});
    const held = await claim();
    const other = await claim();

    advance(LEASE_MS);
    const rescued = await jobs.rescue(rescueRules({ isHeld: (id) => id === held.id }));

    expect(rescued.map(({ job }) => job.id)).toEqual(idsOf(other.jobs));
    expect(await jobs.extend([held.id])).toEqual([{ claimId: held.id, cancelRequested: [] }]);
  });

  it('leaves a job that its own process still runs, and rescues the other jobs of the claim', async () => {
    const { put, claim, jobs, advance } = await setup();
    const [running, other] = await put({}, {});
    const { id } = await claim({ limit: 2 });
    const isRunning = (claimId: number, jobId: number) => claimId === id && jobId === running;

    advance(LEASE_MS);
    const rescued = [await jobs.rescue(rescueRules({ isRunning })), await jobs.rescue(rescueRules({ isRunning }))];
    const later = await jobs.rescue(rescueRules());

    expect(rescued.map((some) => some.map(({ job }) => job.id))).toEqual([[other], []]);
    expect(later.map(({ job }) => job.id)).toEqual([running]);
  });

  it('gives each job to one of several rescuers', async () => {
    const { put, claim, jobs, advance, open } = await setup();
    await put(...Array.from({ length: 30 }, () => ({})));
    const claims = await Promise.all(Array.from({ length: 10 }, () => claim({ limit: 3 })));
    const others = [await open(), await open()];

    advance(LEASE_MS);
    const rescued = await Promise.all([jobs, ...others.map((other) => other.jobs)].map((s) => s.rescue(rescueRules())));

    const ids = rescued.flat().map(({ job }) => job.id);
    expect(ids.sort((a, b) => a - b)).toEqual(claims.flatMap((c) => idsOf(c.jobs)).sort((a, b) => a - b));
  });

  it.each(['[', '[]'])(
    'rescues the jobs of a claim with the list %s, beside a job whose id exceeds the safe integers',
    async (list) => {
      const { put, claim, jobs, advance, sql } = await setup();
      const ids = await put({}, {});
      const taken = await claim({ limit: 2 });
      await sql(`UPDATE sql_queue_claims SET job_ids = '${list}'`);
      await sql(`INSERT INTO sql_queue_jobs (id, queue, payload, state, runnable, attempt, claim_id, created_at)
               VALUES (-9007199254740993, 'q', '1', 'active', 1, 1, ${taken.id}, 1)`);

      advance(LEASE_MS);
      const rescued = await jobs.rescue(rescueRules());

      expect(rescued.map(({ job }) => job.id)).toEqual(ids);
    },
  );

  it('reports which jobs may have started', async () => {
    const { put, claim, jobs, advance } = await setup();
    const ids = await put({}, {}, {}, {});
    const taken = await claim({ limit: 4, startLimit: 1 });
    await jobs.complete(
      completionBatchOf([completionOf(taken, taken.jobs[0]!)], {
        claims: [{ id: taken.id, startLimit: 2, isFinished: false }],
      }),
    );

    advance(LEASE_MS);
    const rescued = await jobs.rescue(rescueRules());

    expect(rescued.map(({ job }) => [job.id, job.mayHaveStarted])).toEqual([
      [ids[1], true],
      [ids[2], false],
      [ids[3], false],
    ]);
  });

  it('keeps the rescued claim from starting further jobs', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({}, {});
    const taken = await claim({ limit: 2, startLimit: 1 });
    advance(LEASE_MS);
    await jobs.rescue(rescueRules());

    const progress = { claims: [{ id: taken.id, startLimit: 2, isFinished: false }] };
    const { lostClaims } = await jobs.complete(completionBatchOf([completionOf(taken, taken.jobs[0]!)], progress));

    expect([...lostClaims]).toEqual([taken.id]);
  });

  it('counts the attempt of a job that may have started, and of no other', async () => {
    const { put, claim, jobs, advance } = await setup();
    const [begun, waited] = await put({}, {});
    await claim({ limit: 2, startLimit: 1 });

    advance(LEASE_MS);
    await jobs.rescue(rescueRules());

    const { jobs: next } = await claim({ limit: 2 });
    expect(next.map(({ id, attempt }) => [id, attempt])).toEqual([
      [begun, 2],
      [waited, 1],
    ]);
  });

  it('moves a dead job to the history', async () => {
    const { put, claim, jobs, advance, admin } = await setup();
    const [id] = await put({ maxAttempts: 1 });
    await claim();

    advance(LEASE_MS);
    await jobs.rescue(rescueRules({ decide: () => outcomes.dead }));

    expect(await admin.get(id!)).toMatchObject({ state: 'dead', error: ERROR, worker: 'worker-1' });
  });

  it('cancels a job with a cancellation request', async () => {
    const { put, claim, jobs, advance, admin } = await setup();
    const [unwanted, other] = await put({}, {});
    await claim({ limit: 2 });
    await admin.cancel(unwanted!, () => 60_000);

    advance(LEASE_MS);
    const rescued = await jobs.rescue(rescueRules());

    expect(rescued.map(({ outcome }) => outcome.kind)).toEqual(['cancel', 'retry']);
    expect(await admin.get(unwanted!)).toMatchObject({ state: 'cancelled' });
    expect(await admin.get(other!)).toMatchObject({ state: 'waiting' });
  });

  it('deletes the claim', async () => {
    const { put, claim, jobs, advance, sql } = await setup();
    await put({});
    await claim();

    advance(LEASE_MS);
    await jobs.rescue(rescueRules());

    expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('deletes the claim of a worker that died between the completion of its job and the deletion of the claim', async () => {
    const { put, claim, jobs, advance, sql } = await setup();
    await put({});
    const taken = await claim();
    await jobs.complete(completionBatchOf([completionOf(taken, taken.jobs[0]!)]));

    advance(LEASE_MS);

    expect(await jobs.rescue(rescueRules())).toEqual([]);
    expect(await sql('SELECT id FROM sql_queue_claims')).toEqual([]);
  });

  it('reads a limited number of expired claims per call', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put(...Array.from({ length: 105 }, () => ({})));
    for (let n = 0; n < 105; n++) await claim();

    advance(LEASE_MS);

    expect(await jobs.rescue(rescueRules())).toHaveLength(100);
    expect(await jobs.rescue(rescueRules())).toHaveLength(5);
  });

  it('rescues the other claims if the rules fail for one', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({ name: 'bad' }, { name: 'good' });
    await claim({ claimId: 1 });
    await claim({ claimId: 2 });
    const decide = ({ name }: { name: string }) => {
      if (name === 'bad') throw new Error('no');
      return outcomes.retry;
    };

    advance(LEASE_MS);
    const rescued = await jobs.rescue(rescueRules({ decide }));

    expect(rescued.map(({ job }) => job.name)).toEqual(['good']);
    expect((await claim()).jobs).toMatchObject([{ name: 'good', attempt: 2 }]);
  });

  it('reports the jobs of each claim before it rescues the next one', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({ name: 'first' }, { name: 'second' });
    await claim({ claimId: 1 });
    await claim({ claimId: 2 });
    const steps: string[] = [];
    const decide = ({ name }: { name: string }) => {
      steps.push(`decide ${name}`);
      return outcomes.retry;
    };

    advance(LEASE_MS);
    const rescued = await jobs.rescue(rescueRules({ decide }), (reported) =>
      steps.push(...reported.map(({ job }) => `report ${job.name}`)),
    );

    expect(steps).toEqual(['decide first', 'report first', 'decide second', 'report second']);
    expect(rescued.map(({ job }) => job.name)).toEqual(['first', 'second']);
  });

  it('fails if the rules fail for all claims', async () => {
    const { put, claim, jobs, advance } = await setup();
    await put({});
    await claim();
    const decide = () => {
      throw new Error('no');
    };

    advance(LEASE_MS);

    await expect(jobs.rescue(rescueRules({ decide }))).rejects.toThrow('no');
    expect(await jobs.rescue(rescueRules())).toHaveLength(1);
  });
});

describeStoresOf(['mysql', 'mariadb'], 'a rescue among open transactions', (setup) => {
  it('skips a job that an open transaction has locked, and rescues it later', async () => {
    const { put, claim, jobs, advance, dataSource } = await setup();
    const [locked, free] = await put({}, {});
    await claim({ limit: 2 });
    advance(LEASE_MS);

    const first = await dataSource.transaction(async (manager) => {
      await manager.query('SELECT id FROM sql_queue_jobs WHERE id = ? FOR UPDATE', [locked]);
      return jobs.rescue(rescueRules());
    });
    const second = await jobs.rescue(rescueRules());

    expect(first.map(({ job }) => job.id)).toEqual([free]);
    expect(second.map(({ job }) => job.id)).toEqual([locked]);
  });

  it('reaches a job behind any number of locked jobs', async () => {
    const { put, claim, jobs, advance, dataSource } = await setup();
    const locked = await put(...Array.from({ length: 100 }, () => ({})));
    for (let claimId = 1; claimId <= 100; claimId++) await claim({ claimId });
    const [free] = await put({});
    await claim({ claimId: 101 });
    advance(LEASE_MS);

    const rescued = await dataSource.transaction(async (manager) => {
      for (const id of locked) await manager.query('SELECT id FROM sql_queue_jobs WHERE id = ? FOR UPDATE', [id]);
      return [await jobs.rescue(rescueRules()), await jobs.rescue(rescueRules())];
    });

    expect(rescued.map((each) => each.map(({ job }) => job.id))).toEqual([[], [free]]);
    expect(await jobs.rescue(rescueRules())).toHaveLength(100);
  });

  it('skips a job that completes in its handler’s own transaction', async () => {
    const { put, claim, jobs, advance, admin } = await setup();
    const [id] = await put({});
    const taken = await claim();

    await jobs.completeWith(async (manager) => {
      await manager.query('SELECT id FROM sql_queue_jobs WHERE id = ? FOR UPDATE', [id]);
      advance(LEASE_MS);
      await jobs.rescue(rescueRules());
      return { value: 1, completion: completionOf(taken, taken.jobs[0]!) };
    });

    expect(await admin.get(id!)).toMatchObject({ state: 'completed' });
    expect(Array.from((await jobs.complete(finalBatchOf(taken))).lost, ({ job }) => job.id)).toEqual([id]);
  });
});
