import { describeStoresOf } from '../support/stores.js';

// The server's process list truncates statements, so the marker of a worker with more queues than fit names none.
describeStoresOf(['mysql', 'mariadb'], 'the notification channel of a worker', (setup) => {
  it.each([1, 130, 136, 137, 138, 139, 140, 200])('is notified for the last of its %i queues', async (count) => {
    const world = await setup();
    const worker = (await world.open()).workerChannel!;
    const elsewhere = (await world.open()).workerChannel!;
    const queues = Array.from({ length: count }, (_, n) => `queue-${n}`);

    const heard = await new Promise((resolve, reject) => {
      const listening = () => elsewhere.notify(queues.at(-1)!, 1);
      worker.listen(queues, new AbortController().signal, listening).then(resolve, reject);
    });

    expect(heard).toBe('wake-up');
    await Promise.all([worker.close(), elsewhere.close()]);
  });
});
