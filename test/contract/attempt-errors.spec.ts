import type { JobRecord } from '../../lib/job/job.js';
import { completionBatchOf, completionOf, ERROR, finalBatchOf, outcomes, rescueRules } from '../support/jobs.js';
import { describeStores, type World } from '../support/stores.js';

/** The attempt and the message of each error. */
const errorsOf = (job: JobRecord | null) => job!.errors.map(({ attempt, message }) => [attempt, message]);

const failing = (message: string) => ({
  ...outcomes.retry,
  error: { ...ERROR, message, code: 'E_FAIL', stack: 'at x' },
});

async function failTimes({ jobs, claim }: World, times: number): Promise<void> {
  for (let attempt = 1; attempt <= times; attempt++)
    await jobs.complete(finalBatchOf(await claim({ maxAttempts: 100 }), failing(`failure ${attempt}`)));
}

describeStores('the errors of all attempts', (setup) => {
  it('are kept with the job while it is retried, with their attempts and times', async () => {
    const world = await setup();
    const [id] = await world.put({});

    await failTimes(world, 3);

    const job = await world.admin.get(id!);
    expect(errorsOf(job)).toEqual([
      [1, 'failure 1'],
      [2, 'failure 2'],
      [3, 'failure 3'],
    ]);
    expect(job!.errors[0]).toEqual({
      attempt: 1,
      at: expect.any(Date),
      startedAt: expect.any(Date),
      worker: 'worker-1',
      name: 'Error',
      message: 'failure 1',
      code: 'E_FAIL',
    });
    expect(job!.errors.map(({ at }) => at.getTime() % 1_000)).toEqual([1, 2, 3]);
    expect(job!.error).toEqual({ name: 'Error', message: 'failure 3', code: 'E_FAIL', stack: 'at x' });
  });

  it.each([
    ['dead', outcomes.dead, [[3, 'no']], ERROR],
    ['completed', outcomes.complete, [], null],
    ['completed with a result', { kind: 'complete', result: '7' } as const, [], null],
    ['completed without its result', { kind: 'complete', result: null, error: ERROR } as const, [[3, 'no']], ERROR],
    ['cancelled', outcomes.cancel, [], { message: 'failure 2' }],
  ])('are in the history of a job that ends %s', async (_, outcome, own, error) => {
    const world = await setup();
    const [id] = await world.put({});
    await failTimes(world, 2);

    await world.jobs.complete(finalBatchOf(await world.claim(), outcome));

    const job = await world.admin.get(id!);
    expect(errorsOf(job)).toEqual([[1, 'failure 1'], [2, 'failure 2'], ...own]);
    if (error === null) expect(job!.error).toBeNull();
    else expect(job!.error).toMatchObject(error);
  });

  it('stay with the right jobs if a batch of them is completed', async () => {
    const world = await setup();
    const ids = await world.put(...Array.from({ length: 20 }, () => ({})));
    const first = await world.claim({ limit: 20 });
    const outcomeOf = (id: number) => (id % 4 === 0 ? failing(`failure of ${id}`) : outcomes.complete);
    await world.jobs.complete(
      completionBatchOf(
        first.jobs.map((job) => completionOf(first, job, outcomeOf(job.id))),
        { claims: [{ id: first.id, startLimit: 20, isFinished: true }] },
      ),
    );
    await world.jobs.complete(finalBatchOf(await world.claim({ limit: 20 })));

    for (const id of ids)
      expect(errorsOf(await world.admin.get(id))).toEqual(id % 4 === 0 ? [[1, `failure of ${id}`]] : []);
  });

  it('include lost workers, failures by people and attempts after a retry of the dead job', async () => {
    const world = await setup();
    const [id] = await world.put({});
    await world.claim();
    world.advance(600_000);
    await world.jobs.rescue(rescueRules());
    const held = { owner: 'ann' };
    await world.consumer.assign(id!, { workerId: 'w', ...held, leaseMs: null }, 'anyone', () => ({ maxAttempts: 5 }));
    await world.consumer.end(id!, held, () => ({ outcome: outcomes.dead, retentionMs: 60_000 }));
    await world.admin.retry([id!]);

    await world.jobs.complete(finalBatchOf(await world.claim(), failing('again')));

    expect(errorsOf(await world.admin.get(id!))).toEqual([
      [1, 'no'],
      [2, 'no'],
      [1, 'again'],
    ]);
  });

  it('have the start of the attempt and its worker, those of a person no worker, and those of an earlier release neither', async () => {
    const world = await setup();
    const { jobs, consumer, admin, sql, claim } = world;
    const [id] = await world.put({});
    const old = { name: 'Error', message: 'old', attempt: 2, at: 7_000, earlier: [[1, 5_000, 'Error', 'older', null]] };
    await sql(`UPDATE sql_queue_jobs SET error = '${JSON.stringify(old)}', attempt = 2`);
    const taken = await claim();
    const ended = {
      ...completionOf(taken, taken.jobs[0]!, failing('by a worker')),
      ranMs: 40.4,
      endedAt: new Date(9_000),
    };
    await jobs.complete({ ...finalBatchOf(taken), completions: [ended] });
    await consumer.assign(id!, { workerId: 'w', owner: 'ann', leaseMs: null }, 'anyone', () => ({ maxAttempts: 5 }));
    await consumer.end(id!, { owner: 'ann' }, () => ({ outcome: failing('by a person'), retentionMs: false }));

    const runs = (await admin.get(id!))!.errors.map(({ message, startedAt, worker }) => [message, startedAt, worker]);

    expect(runs).toEqual([
      ['older', undefined, undefined],
      ['old', undefined, undefined],
      ['by a worker', new Date(8_960), 'worker-1'],
      ['by a person', expect.any(Date), undefined],
    ]);
  });

  it('do not include attempts that were released or snoozed', async () => {
    const world = await setup();
    const [id] = await world.put({});
    await failTimes(world, 1);

    await world.jobs.complete(finalBatchOf(await world.claim(), outcomes.release));
    await world.jobs.complete(finalBatchOf(await world.claim(), outcomes.snooze));

    expect(errorsOf(await world.admin.get(id!))).toEqual([[1, 'failure 1']]);
  });

  it('are the last 25, with messages of 500 characters', async () => {
    const world = await setup();
    const [id] = await world.put({});
    await failTimes(world, 30);
    await world.jobs.complete(finalBatchOf(await world.claim({ maxAttempts: 100 }), failing('x'.repeat(2_000))));
    await failTimes(world, 1);

    const { errors } = (await world.admin.get(id!))!;

    expect(errors.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 25 }, (_, index) => index + 8));
    expect(errors.at(-2)!.message).toBe('x'.repeat(500));
  });

  it('are found by the last one alone', async () => {
    const world = await setup();
    const [id] = await world.put({});
    await failTimes(world, 1);
    await world.jobs.complete(
      finalBatchOf(await world.claim(), { ...outcomes.dead, error: { ...ERROR, code: 'E_LAST' } }),
    );
    const find = async (error: string) =>
      (await world.admin.find({ queue: 'q', error }, { limit: 9, order: 'oldest' })).jobs.map((job) => job.id);

    expect([await find('E_LAST'), await find('E_FAIL')]).toEqual([[id], []]);
  });

  it.each([
    '{"earlier":7}',
    '{"earlier":[1,[2],["a",1,"E","m"],[1,1e99,"E","m"]]}',
    '{"name":"E","message":"m","at":"soon"}',
    '[]',
  ])('are empty if another program has written %s, and the job goes on', async (text) => {
    const world = await setup();
    const [id] = await world.put({});
    await world.sql(`UPDATE sql_queue_jobs SET error = '${text}'`);

    const before = await world.admin.get(id!);
    await failTimes(world, 1);

    expect(errorsOf(before)).toEqual([]);
    expect(errorsOf(await world.admin.get(id!))).toEqual([[1, 'failure 1']]);
  });
});
