import { getConsumerToken, getProducerToken, QueueConsumer, QueueProducer } from 'nestjs-sql-queue';
import { compile, queueModule } from './support/application.js';

describe('QueueConsumer', () => {
  it('is available in every module, even in a process without a worker', async () => {
    const app = await compile({ imports: [queueModule({ worker: false })] });
    const { id } = await app.get(QueueProducer).enqueue('photo.review', { photo: 7 });
    const consumer = app.get(QueueConsumer);

    const [task] = await consumer.claim<{ photo: number }>('photo.review', { owner: 'ann' });
    await consumer.complete(task!.id, { token: task!.token });

    expect(task).toMatchObject({ id, payload: { photo: 7 } });
  });

  it('of a named instance accesses only the jobs of that instance', async () => {
    const app = await compile({
      imports: [queueModule({ worker: false }), queueModule({ name: 'audit', worker: false })],
    });
    const producer = app.get<QueueProducer>(getProducerToken('audit'));
    const { id } = await producer.enqueue('check', 0);

    await expect(app.get(QueueConsumer).assign(id, 'ann')).rejects.toMatchObject({ code: 'JOB_NOT_FOUND', jobId: id });
    await expect(app.get<QueueConsumer>(getConsumerToken('audit')).assign(id, 'ann')).resolves.toMatchObject({ id });
  });
});
