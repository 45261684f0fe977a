import { once } from 'node:events';
import { createSocket } from 'node:dgram';
import * as Sentry from '@sentry/node';
import { Test } from '@nestjs/testing';
import { QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
import { createJobContext } from 'nestjs-sql-queue/testing';
import { databaseOptions } from '../../shared/database.js';
import { DogStatsd } from '../dogstatsd.js';
import { Mails } from '../mails.js';
import { SentryErrors } from '../sentry-errors.js';

describe('Mails', () => {
  it('refuses an address without an @', async () => {
    await expect(new Mails().send(createJobContext({ to: 'nowhere' }))).rejects.toThrow('The address has no @.');
  });
});

describe('the instrumentations of an application', () => {
  it('send a metric of each attempt, and the error of a dead job', async () => {
    const agent = createSocket('udp4');
    await new Promise<void>((listening) => agent.bind(0, '127.0.0.1', listening));
    // Sentry sends nothing, because each event ends here, and no reports of such events.
    const reported = new Promise<Sentry.ErrorEvent>((report) => {
      const beforeSend = (event: Sentry.ErrorEvent) => (report(event), null);
      const dsn = 'http://key@127.0.0.1:1/1';
      Sentry.init({ dsn, defaultIntegrations: false, sendClientReports: false, beforeSend });
    });
    const app = await Test.createTestingModule({
      imports: [
        SqlQueueModule.forRoot({
          connection: databaseOptions('./test.sqlite'),
          instrumentations: [new DogStatsd(agent.address().port), new SentryErrors()],
        }),
      ],
      providers: [Mails],
    }).compile();
    app.useLogger(false);
    await app.init();
    const producer = app.get(QueueProducer);

    const metric = once(agent, 'message') as Promise<[Buffer]>;
    const sent = await producer.enqueue('mail.send', { to: 'ann@example.com' });
    await producer.waitFor(sent.id);
    expect(String((await metric)[0])).toContain('sql_queue.jobs.ended:1|c|#queue:mail.send,outcome:completed');

    const failed = await producer.enqueue('mail.send', { to: 'nowhere' });
    await expect(producer.waitFor(failed.id)).rejects.toThrow('The address has no @.');
    expect(await reported).toMatchObject({ tags: { queue: 'mail.send' }, extra: { id: failed.id, attempt: 2 } });
    await app.close();
    await Sentry.close();
    agent.close();
  });
});
