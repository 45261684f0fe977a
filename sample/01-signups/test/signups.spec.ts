import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { QueueProducer, UnrecoverableError } from 'nestjs-sql-queue';
import { createJobContext, FakeQueueProducer } from 'nestjs-sql-queue/testing';
import request from 'supertest';
import type { App } from 'supertest/types.js';
import { AppModule } from '../app.module.js';
import { Mailer, type Mail } from '../mailer.js';
import { SignupsController } from '../signups.controller.js';
import { SignupsService } from '../signups.service.js';
import { WelcomeMail } from '../welcome-mail.js';

describe('SignupsController', () => {
  it('refuses an address without a domain', async () => {
    const service = { signUp: () => new FakeQueueProducer().enqueue('email.welcome', { email: '', name: '' }) };
    const module = await Test.createTestingModule({
      controllers: [SignupsController],
      providers: [{ provide: SignupsService, useValue: service }],
    }).compile();
    const controller = module.get(SignupsController);

    await expect(controller.signUp({ email: 'ada@', name: 'Ada' })).rejects.toMatchObject({ status: 400 });
    expect(await controller.signUp({ email: 'Ada@example.com', name: 'Ada' })).toMatchObject({
      email: 'ada@example.com',
      welcomeMail: expect.stringMatching(/^\/jobs\/\d+$/) as string,
    });
  });
});

describe('WelcomeMail', () => {
  const job = createJobContext({ email: 'ada@example.com', name: 'Ada' }, { id: 7 });

  it('sends a mail whose id is that of the job', async () => {
    const sent: Mail[] = [];
    const mailer = { send: (mail: Mail) => Promise.resolve(`${sent.push(mail)}`) } as unknown as Mailer;

    await new WelcomeMail(mailer).send(job);

    expect(sent).toMatchObject([{ to: { address: 'ada@example.com' }, messageId: '<welcome-7@signups.example>' }]);
  });

  it('retries a mail that the server rejects for now, and gives up after a permanent rejection', async () => {
    const handlerThatReceives = (responseCode: number) => {
      const error = Object.assign(new Error(`${responseCode}`), { code: 'EENVELOPE', responseCode });
      return new WelcomeMail({ send: () => Promise.reject(error) } as unknown as Mailer);
    };

    await expect(handlerThatReceives(452).send(job)).rejects.not.toThrow(UnrecoverableError);
    await expect(handlerThatReceives(550).send(job)).rejects.toThrow(UnrecoverableError);
  });
});

describe('the application', () => {
  const delivered: string[] = [];
  let app: INestApplication<App>;

  beforeAll(async () => {
    const settings = { databaseUrl: undefined, smtpUrl: undefined, port: 0, csvPath: '', once: false };
    const module = await Test.createTestingModule({ imports: [AppModule.with(settings, 'smtp://127.0.0.1')] })
      .overrideProvider(Mailer)
      .useValue({ send: ({ to }: Mail) => Promise.resolve(`id ${delivered.push(to.address)}`) })
      .compile();
    app = module.createNestApplication();
    await app.init();
  });

  afterAll(() => app.close());

  it('sends a welcome mail after a sign-up', async () => {
    const { body } = await request(app.getHttpServer())
      .post('/signups')
      .send({ email: 'ada@example.com', name: 'Ada' })
      .expect(201);
    const path = (body as { welcomeMail: string }).welcomeMail;

    await app.get(QueueProducer).waitFor(Number(path.split('/').at(-1)));

    expect(delivered).toEqual(['ada@example.com']);
    const job = await request(app.getHttpServer()).get(path).expect(200);
    expect(job.body).toMatchObject({ state: 'completed', result: { messageId: 'id 1' } });
  });

  it('refuses a second sign-up, and enqueues no second mail', async () => {
    const signUp = (email: string) => request(app.getHttpServer()).post('/signups').send({ email, name: 'Bob' });
    const { body } = await signUp('bob@example.com').expect(201);
    await app.get(QueueProducer).waitFor(Number((body as { welcomeMail: string }).welcomeMail.split('/').at(-1)));
    const before = await request(app.getHttpServer()).get('/queue').expect(200);

    await signUp('BOB@example.com').expect(409);

    const after = await request(app.getHttpServer()).get('/queue').expect(200);
    expect(after.body).toEqual(before.body);
  });
});
