import type { QueueConsumer } from '../../lib/consumer/queue-consumer.js';
import type { JobHolder } from '../../lib/consumer/holder.js';
import { TABLES, tableNames } from '../../lib/store/tables.js';
import { describeEngines, type World } from '../support/engines.js';
import { claimOf } from '../support/jobs.js';

const BOB = { owner: 'bob' };
const NO_IDS = ['7', 0, -1, 1.5, NaN, Infinity, 2 ** 53, 7n, null, undefined, true, [], ['7'], [7, 0], [[7]]];

const VERBS: Record<string, (consumer: QueueConsumer, id: number, holder: JobHolder) => Promise<unknown>> = {
  complete: (consumer, id, holder) => consumer.complete(id, { ...holder, result: 'mine' }),
  fail: (consumer, id, holder) => consumer.fail(id, { ...holder, error: 'mine' }),
  release: (consumer, id, holder) => consumer.release(id, holder),
  snooze: (consumer, id, holder) => consumer.snooze(id, { ...holder, until: '1h' }),
  extend: (consumer, id, holder) => consumer.extend(id, { ...holder, lease: '1h' }),
  move: (consumer, id, holder) => consumer.move(id, { ...holder, stage: 'review' }),
};

describeEngines('nothing at all is written', (setup, { name }) => {
  /** A job of every kind, by what it is. */
  async function everyKind() {
    const world = await setup();
    const engine = await world.start({ autoStart: false });
    const { producer, consumer, admin, store } = engine;
    const put = async (queue: string, delay = 0) => (await producer.enqueue(queue, 0, { delay })).id;
    const ended = async (end: (id: number) => Promise<unknown>) => {
      const id = await put('ends', 0);
      await consumer.assign(id, 'bob');
      await end(id);
      return id;
    };
    const [waiting, scheduled, staged] = [await put('waits'), await put('waits', 3_600_000), await put('stages')];
    await consumer.assign(staged, 'bob');
    await consumer.move(staged, { ...BOB, stage: 'pending' });
    const [bobs, anns, run] = [await put('people'), await put('people'), await put('q')];
    await consumer.assign(bobs, 'bob');
    const { token } = await consumer.assign(anns, 'ann');
    // As a worker does that dies before it begins, so that no lease is renewed meanwhile.
    await store.claim(claimOf({ strategy: name === 'sqlite' ? 'update' : 'skip-locked' }));
    const completed = await ended((id) => consumer.complete(id, BOB));
    const dead = await ended((id) => consumer.fail(id, { ...BOB, error: 'x', retry: false }));
    const cancelled = await ended((id) => admin.cancel(id));
    const unknown = cancelled + 1_000;
    return {
      ...{ world, consumer, admin, token },
      jobs: { waiting, scheduled, staged, bobs, run, completed, dead, cancelled, unknown },
    };
  }

  it.each(Object.keys(VERBS))(
    'by whoever does not hold the job, in his own name or with another job’s token: %s',
    async (verb) => {
      const { world, consumer, token, jobs } = await everyKind();
      const before = await everything(world);

      const answers: Record<string, unknown> = {};
      for (const [kind, id] of Object.entries(jobs)) {
        const holders = [{ owner: 'ann' }, { token }, { token: '1' }];
        const asked = holders.map((holder) => answerOf(VERBS[verb]!(consumer, id, holder)));
        answers[kind] = [...new Set(await Promise.all(asked))].join(', ');
      }

      expect(answers).toEqual({
        ...{ waiting: 'JOB_NOT_HELD nobody', scheduled: 'JOB_NOT_HELD nobody', staged: 'JOB_NOT_HELD nobody' },
        ...{ bobs: 'JOB_NOT_HELD owner bob', run: 'JOB_NOT_HELD worker' },
        ...{ completed: 'JOB_FINISHED', dead: 'JOB_FINISHED', cancelled: 'JOB_FINISHED', unknown: 'JOB_NOT_FOUND' },
      });
      expect(await everything(world)).toEqual(before);
    },
  );

  it('by an admin who asks for what cannot be of jobs that run, are finished or never were', async () => {
    const { world, admin, jobs } = await everyKind();
    const { bobs, run, completed, dead, cancelled, unknown } = jobs;
    const before = await everything(world);

    const cancels = await Promise.all([completed, dead, cancelled, unknown].map((id) => admin.cancel(id)));
    const retries = await admin.retry([bobs, run, completed, unknown]);
    const replays = await admin.retry([bobs, run, completed, unknown], { to: 'other' });
    const removals = await admin.remove([bobs, run, unknown]);
    const seen = await Promise.all([admin.get(unknown), admin.logs(unknown)]);

    expect(cancels).toEqual([false, false, false, false]);
    expect([retries, replays, removals]).toEqual([0, 0, 0]);
    expect(seen).toEqual([null, { lines: [] }]);
    expect(await everything(world)).toEqual(before);
  });

  it('by an admin or a consumer who is given what is no id, alone or among others', async () => {
    const { world, consumer, admin, jobs } = await everyKind();
    const before = await everything(world);
    const asks: ((id: never) => Promise<unknown>)[] = [
      ...[admin.get, admin.cancel, admin.logs].map((verb) => verb.bind(admin) as (id: never) => Promise<unknown>),
      (id) => consumer.unassign(id),
      (id) => consumer.assign(id, 'ann'),
      ...Object.values(VERBS).map((verb) => (id: never) => verb(consumer, id, BOB)),
    ];
    const many = [(ids: never) => admin.retry(ids), (ids: never) => admin.remove(ids)];
    // An empty list is one of no jobs.
    const noLists = NO_IDS.filter((id) => !(Array.isArray(id) && id.length === 0));
    const among = [jobs.dead, jobs.waiting, '7'];

    const answers = await Promise.all([
      ...NO_IDS.flatMap((id) => asks.map((ask) => answerOf(ask(id as never)))),
      ...[...noLists, among].flatMap((ids) => many.map((ask) => answerOf(ask(ids as never)))),
    ]);

    expect(new Set(answers)).toEqual(new Set(['INVALID_OPTIONS']));
    expect(await everything(world)).toEqual(before);
  });
});

async function answerOf(asked: Promise<unknown>): Promise<string> {
  const error = (await asked.then(
    () => ({ code: 'done' }),
    (reason: unknown) => reason,
  )) as { code?: string; message?: string; heldBy?: string; owner?: string };
  return [error.code ?? error.message, error.heldBy, error.owner].filter(Boolean).join(' ');
}

/** Every row of every table, but the lines of producers that have numbered nothing: a verb opens one before it looks. */
async function everything({ sql }: World): Promise<Record<string, unknown>> {
  const names = tableNames();
  const rows: Record<string, unknown> = {};
  for (const table of TABLES) {
    const used = table === 'producers' ? 'WHERE number > 0' : '';
    rows[table] = await sql(`SELECT * FROM ${names[table]} ${used} ORDER BY 1, 2`);
  }
  return rows;
}
