import { Test } from '@nestjs/testing';
import { getAdminToken, getProducerToken, QueueAdmin, QueueProducer } from 'nestjs-sql-queue';
import { createJobContext } from 'nestjs-sql-queue/testing';
import { AppModule } from '../app.module.js';
import { MAIL, Mails, MAILS } from '../mails.js';
import { REPORTS } from '../reports.js';

describe('Mails', () => {
  it('rejects a batch that has a text instead of an address', () => {
    const [ada, nowhere] = [createJobContext({ to: 'ada@example.com' }), createJobContext({ to: 'nowhere' })];

    expect(() => new Mails().send([ada])).not.toThrow();
    expect(() => new Mails().send([ada, nowhere])).toThrow('expected an address, got nowhere');
  });
});

describe('the application', () => {
  it('runs the jobs of both instances, each on its own tables', async () => {
    const app = await Test.createTestingModule({ imports: [AppModule] }).compile();
    await app.init();
    const producerOf = (name: string) => app.get<QueueProducer>(getProducerToken(name));

    const mail = await producerOf(MAILS.name).enqueue(MAIL, { to: 'ada@example.com' });
    const report = await producerOf(REPORTS.name).enqueue('report.update', { month: 3 });
    await producerOf(MAILS.name).waitFor(mail.id);

    expect(await producerOf(REPORTS.name).waitFor(report.id)).toBe('report of month 3');
    expect(await app.get<QueueAdmin>(getAdminToken(MAILS.name)).counts()).toMatchObject({ completed: 1 });
    expect(await app.get<QueueAdmin>(getAdminToken(REPORTS.name)).counts()).toMatchObject({ completed: 1 });
    await app.close();
  });
});
