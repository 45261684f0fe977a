import type { QueueConsumer } from '../../lib/consumer/queue-consumer.js';
import type { ClaimHolder } from '../../lib/consumer/claim-holder.js';
import { TABLES, tableNames } from '../../lib/store/tables/table-names.js';
import { describeEngines, type World } from '../support/engines.js';
import { claimRequest } from '../support/jobs.js';

const BOB = { owner: 'bob' };
const NO_IDS = ['7', 0, -1, 1.5, NaN, Infinity, 2 ** 53, 7n, null, undefined, true, [], ['7'], [7, 0], [[7]]];

const VERBS: Record<string, (consumer: QueueConsumer, id: number, holder: ClaimHolder) => Promise<unknown>> = {
  complete: (consumer, id, holder) => consumer.complete(id, { ...holder, result: 'mine' }),
  fail: (consumer, id, holder) => consumer.fail(id, { ...holder, error: 'mine' }),
  release: (consumer, id, holder) => consumer.release(id, holder),
  snooze: (consumer, id, holder) => consumer.snooze(id, { ...holder, until: '1h' }),
  extend: (consumer, id, holder) => consumer.extend(id, { ...holder, lease: '1h' }),
  move: (consumer, id, holder) => consumer.move(id, { ...holder, stage: 'review' }),
};

describeEngines('a rejected call writes nothing', (setup, { name }) => {
  /** One job of every kind, with its id by kind. */
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
    // Like a worker that ends before it starts a job, so that no heartbeat renews the lease.
    await store.claim(claimRequest({ strategy: name === 'sqlite' ? 'update' : 'skip-locked' }));
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
    'for a caller other than the claim holder, with another owner or the token of another job: %s',
    async (verb) => {
      const { world, consumer, token, jobs } = await everyKind();
      const before = await everything(world);

      const answers: Record<string, unknown> = {};
      for (const [kind, id] of Object.entries(jobs)) {
        const holders = [{ owner: 'ann' }, { token }, { token: '1' }];
        const calls = holders.map((holder) => answerOf(VERBS[verb]!(consumer, id, holder)));
        answers[kind] = [...new Set(await Promise.all(calls))].join(', ');
      }

      expect(answers).toEqual({
        ...{
          waiting: 'JOB_NOT_ASSIGNED none',
          scheduled: 'JOB_NOT_ASSIGNED none',
          staged: 'JOB_NOT_ASSIGNED none',
        },
        ...{ bobs: 'JOB_NOT_ASSIGNED owner bob', run: 'JOB_NOT_ASSIGNED worker' },
        ...{ completed: 'JOB_FINISHED', dead: 'JOB_FINISHED', cancelled: 'JOB_FINISHED', unknown: 'JOB_NOT_FOUND' },
      });
      expect(await everything(world)).toEqual(before);
    },
  );

  it('for an admin verb that does not apply to running, finished or unknown jobs', async () => {
    const { world, admin, jobs } = await everyKind();
    const { bobs, run, completed, dead, cancelled, unknown } = jobs;
    const before = await everything(world);

    const cancels = await Promise.all([completed, dead, cancelled, unknown].map((id) => admin.cancel(id)));
    const retries = await admin.retry([bobs, run, completed, unknown]);
    const replays = await admin.retry([bobs, run, completed, unknown], { to: 'other', create: true });
    const removals = await admin.remove([bobs, run, unknown]);
    const found = await Promise.all([admin.get(unknown), admin.logs(unknown)]);

    expect(cancels).toEqual([false, false, false, false]);
    expect([retries, replays, removals]).toEqual([0, 0, 0]);
    expect(found).toEqual([null, { lines: [] }]);
    expect(await everything(world)).toEqual(before);
  });

  it('for an invalid job id of an admin or consumer verb, alone or in a list', async () => {
    const { world, consumer, admin, jobs } = await everyKind();
    const before = await everything(world);
    const verbs: ((id: never) => Promise<unknown>)[] = [
      ...[admin.get, admin.logs, admin.steps, admin.explain, admin.relatives, admin.release, admin.flow].map((verb) =>
        verb.bind(admin),
      ),
      (id) => admin.reschedule(id, '1h'),
      (id) => admin.reprioritise(id, 1),
      (id) => admin.update(id, { payload: 1 }),
      (id) => admin.duplicate(id),
      (id) => consumer.unassign(id),
      (id) => consumer.assign(id, 'ann'),
      ...Object.values(VERBS).map((verb) => (id: never) => verb(consumer, id, BOB)),
    ];
    const many = [admin.states, admin.cancel, admin.promote, admin.retry, admin.remove].map(
      (verb) => verb.bind(admin) as (ids: never) => Promise<unknown>,
    );
    // An empty list is valid: it names no jobs.
    const noLists = NO_IDS.filter((id) => !(Array.isArray(id) && id.length === 0));
    const among = [jobs.dead, jobs.waiting, '7'];

    const answers = await Promise.all([
      ...NO_IDS.flatMap((id) => verbs.map((verb) => answerOf(verb(id as never)))),
      ...[...noLists, among].flatMap((ids) => many.map((verb) => answerOf(verb(ids as never)))),
    ]);

    expect(new Set(answers)).toEqual(new Set(['INVALID_OPTIONS']));
    expect(await everything(world)).toEqual(before);
  });
});

async function answerOf(call: Promise<unknown>): Promise<string> {
  const error = (await call.then(
    () => ({ code: 'done' }),
    (reason: unknown) => reason,
  )) as { code?: string; message?: string; claimedBy?: string; owner?: string };
  return [error.code ?? error.message, error.claimedBy, error.owner].filter(Boolean).join(' ');
}

/**
 * Every row of every table, except commit log rows of producers without a commit: a verb inserts one before it reads.
 */
async function everything({ sql }: World): Promise<Record<string, unknown>> {
  const names = tableNames();
  const rows: Record<string, unknown> = {};
  for (const table of TABLES) {
    const used = table === 'commit_log' ? 'WHERE number > 0' : '';
    rows[table] = await sql(`SELECT * FROM ${names[table]} ${used} ORDER BY 1, 2`);
  }
  return rows;
}
