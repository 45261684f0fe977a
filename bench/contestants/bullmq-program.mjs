import { Queue, Worker } from 'bullmq';

// Shared by both databases: the API is the same, with another backend as the last argument.

export async function startBullmqWorker({ queues, settings, handle, connection, backend }) {
  const workers = queues.map(
    (queue) => new Worker(queue, async (job) => handle(job.data), { connection, ...settings.worker }, backend),
  );
  for (const worker of workers) worker.on('error', (error) => console.error(error.message));
  await Promise.all(workers.map((worker) => worker.waitUntilReady()));
  return { close: () => Promise.all(workers.map((worker) => worker.close())) };
}

export async function openBullmqProducer({ queues: [name], settings, connection, backend, prefill }) {
  const queue = new Queue(name, { connection, ...settings.queue }, backend);
  await queue.waitUntilReady();
  return {
    add: (data) => queue.add('job', data),
    addMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: 'job', data }))),
    async left() {
      const counts = await queue.getJobCounts('wait', 'active', 'delayed', 'prioritized', 'paused');
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    prefill: prefill(queue),
    close: () => queue.close(),
  };
}
