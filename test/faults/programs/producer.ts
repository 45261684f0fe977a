import { DataSource, type DataSourceOptions } from 'typeorm';
import { openEngine } from '../../support/engine.js';
import { Journal } from '../../support/journal.js';

const { connection, journals, jobs, failEvery } = JSON.parse(process.argv[2]!) as {
  connection: object;
  journals: string;
  jobs: number;
  failEvery: number;
};
const BATCH_SIZE = 50;
const CONCURRENCY = 4;

const dataSource = await new DataSource(connection as DataSourceOptions).initialize();
const { producer, close } = await openEngine({ dataSource });
const journal = new Journal(journals, `producer-${process.pid}`);
process.send?.({ ready: true });

let put = 0;
await Promise.all(Array.from({ length: CONCURRENCY }, produce));
await close();
await dataSource.destroy();
process.disconnect();

async function produce(): Promise<void> {
  while (put < jobs) {
    const from = put;
    put += Math.min(BATCH_SIZE, jobs - put);
    const batch = Array.from({ length: put - from }, (_, index) => ({
      payload: (from + index) % failEvery === 0 ? { failFirst: true } : {},
    }));
    for (const { id } of await producer.enqueueMany('q', batch)) journal.append('enqueued', id);
  }
}
