import { Test } from '@nestjs/testing';
import { QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
import { createJobContext, QueueHarness } from 'nestjs-sql-queue/testing';
import { databaseOptions } from '../../shared/database.js';
import { Reports } from '../reports.js';

describe('Reports', () => {
  it('returns the number of words', () => {
    expect(new Reports().write(createJobContext({ of: 1, words: 4 }, { headers: { from: 'python' } }))).toBe(4);
  });
});

describe('the application', () => {
  it('runs the reports, and leaves the texts to the other program', async () => {
    const app = await Test.createTestingModule({
      imports: [SqlQueueModule.forRoot({ connection: databaseOptions('./test.sqlite'), worker: { autoStart: false } })],
      providers: [Reports],
    }).compile();
    await app.init();
    const producer = app.get(QueueProducer);

    const { id } = await producer.enqueue('text.count', { text: 'the lazy dog' });
    await producer.enqueue('report.write', { of: id, words: 3 }, { headers: { from: 'python' } });

    expect(await QueueHarness.of(app).drain()).toMatchObject([{ queue: 'report.write', result: 3 }]);
    await app.close();
  });
});
