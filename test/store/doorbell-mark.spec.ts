import { describeStoresOf } from '../support/stores.js';

// The server's list of processes shows so much of a statement; the mark of a worker with more queues than fit names none.
describeStoresOf(['mysql', 'mariadb'], 'the doorbell of a worker', (setup) => {
  it.each([1, 130, 136, 137, 138, 139, 140, 200])('rings for the last of its %i queues', async (count) => {
    const world = await setup();
    const worker = (await world.open()).doorbell!;
    const elsewhere = (await world.open()).doorbell!;
    const queues = Array.from({ length: count }, (_, n) => `queue-${n}`);

    const heard = await new Promise((resolve, reject) => {
      const listening = () => elsewhere.ring(queues.at(-1)!, 1);
      worker.listen(queues, new AbortController().signal, listening).then(resolve, reject);
    });

    expect(heard).toBe('ring');
    await Promise.all([worker.close(), elsewhere.close()]);
  });
});
