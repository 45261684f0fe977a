import { Test } from '@nestjs/testing';
import { QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
import { createJobContext, QueueHarness } from 'nestjs-sql-queue/testing';
import { databaseOptions } from '../../shared/database.js';
import { Imports, QUEUES } from '../tenants.js';

describe('Imports', () => {
  it('lets a tenant rest for a second if its API asks for a pause', async () => {
    const decisions: unknown[] = [];
    const decide = (decision: unknown) => void decisions.push(decision);
    const createdAt = new Date(Date.now() + 60_000);

    const paused = new Imports().import(createJobContext({ row: 3 }, { group: 'globex', createdAt, decide }));
    await expect(paused).rejects.toThrow();
    await new Imports().import(createJobContext({ row: 3 }, { group: 'acme', createdAt, decide }));

    expect(decisions).toEqual([{ kind: 'rest until', until: '1s' }]);
  });
});

describe('a worker', () => {
  it('takes turns between the tenants', async () => {
    const app = await Test.createTestingModule({
      imports: [
        SqlQueueModule.forRoot({
          connection: databaseOptions('./test.sqlite'),
          queues: QUEUES,
          worker: { autoStart: false },
        }),
      ],
      providers: [Imports],
    }).compile();
    await app.init();
    const producer = app.get(QueueProducer);
    const jobs = await producer.enqueueMany('import.row', [
      ...[0, 1, 2].map((row) => ({ payload: { row }, options: { group: 'acme' } })),
      { payload: { row: 0 }, options: { group: 'initech' } },
    ]);

    const ran = await QueueHarness.of(app).drain();

    expect(ran.map(({ outcome }) => outcome)).toEqual(['complete', 'complete', 'complete', 'complete']);
    // The small tenant came last, and does not wait for all rows of the other one.
    expect(ran.at(-1)?.id).not.toBe(jobs.at(-1)?.id);
    await app.close();
  });
});
