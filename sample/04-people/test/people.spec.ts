import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { createJobContext, QueueHarness } from 'nestjs-sql-queue/testing';
import request from 'supertest';
import type { App } from 'supertest/types.js';
import { AppModule } from '../app.module.js';
import { PhotoChecker } from '../photo-checker.js';
import { msUntilTomorrow } from '../tasks.service.js';

describe('PhotoChecker', () => {
  it('refuses blurred photos', async () => {
    const verdictOn = (title: string) => new PhotoChecker().check(createJobContext({ title }));

    expect(await verdictOn('Blurred bird')).toEqual({ verdict: 'refused', by: 'code' });
    expect(await verdictOn('Two cats')).toEqual({ verdict: 'fine', by: 'code' });
  });
});

describe('msUntilTomorrow', () => {
  it('ends at eight o’clock on the next day', () => {
    expect(msUntilTomorrow(new Date(2027, 0, 31, 20))).toBe(12 * 3_600_000);
  });
});

describe('the application', () => {
  let app: INestApplication<App>;

  beforeEach(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = module.createNestApplication();
    await app.init();
  });

  afterEach(() => app.close());

  const post = (path: string, body: object) => request(app.getHttpServer()).post(path).send(body);

  it('gives a task to one person, and the other one receives the name of its owner', async () => {
    const { body } = await post('/tasks', { title: 'Two cats' }).expect(201);
    const { id } = body as { id: number };

    await post(`/tasks/${id}/take`, { owner: 'ada' }).expect(201);
    const refused = await post(`/tasks/${id}/take`, { owner: 'bob' }).expect(409);
    await post(`/tasks/${id}/finish`, { owner: 'ada', verdict: 'fine' }).expect(201);

    expect((refused.body as { message: string }).message).toContain('ada');
    const tasks = await request(app.getHttpServer()).get('/tasks').expect(200);
    expect(tasks.body).toMatchObject({ taken: [], finished: [{ id, result: { verdict: 'fine', by: 'ada' } }] });
  });

  it('leaves photos in review to people', async () => {
    const { body } = await post('/tasks', { title: 'Market day' });
    const { id } = body as { id: number };
    await post(`/tasks/${id}/take`, { owner: 'ada' });
    await post(`/tasks/${id}/review`, { owner: 'ada' });

    expect(await QueueHarness.of(app).drain()).toEqual([]);
    await post(`/tasks/${id}/accept`, { owner: 'bob', verdict: 'refused' }).expect(201);
  });
});
