import { FRAMEWORKS, startBullBoard } from '../bull-board/support/bull-board-app.js';

describe.each(FRAMEWORKS)('bull-board on %s', (framework) => {
  it('serves its page, and changes queues in the name of the user', async () => {
    const { url, read, write, admin, producer } = await startBullBoard({
      framework,
      board: { user: ({ headers }) => headers['x-user'] as string },
    });
    const { id } = await producer.enqueue('email', 1);

    const page = await fetch(url).then((answer) => answer.text());
    const queues = await read('queues?activeQueue=email&status=waiting');
    await write('PATCH', `queues/email/${id}/update-data`, { jobData: 2 }, { 'x-user': 'ann' });
    const { entries } = await admin.audit();

    expect(page).toContain('<title>nestjs-sql-queue</title>');
    expect(queues.body.queues[0].jobs).toMatchObject([{ id: String(id), data: 1 }]);
    expect(entries).toMatchObject([{ verb: 'update', by: 'ann' }]);
    expect(await admin.get(id)).toMatchObject({ payload: 2 });
  });
});
