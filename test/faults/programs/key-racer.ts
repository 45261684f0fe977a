import { DataSource, type DataSourceOptions } from 'typeorm';
import { openEngine } from '../../support/engine.js';
import { Journal } from '../../support/journal.js';

const { connection, journals, producers, calls } = JSON.parse(process.argv[2]!) as {
  connection: object;
  journals: string;
  /** So many at a time. */
  producers: number;
  /** By each of them. */
  calls: number;
};

const dataSource = await new DataSource(connection as DataSourceOptions).initialize();
const { producer, close } = await openEngine({ dataSource });
const journal = new Journal(journals, `racer-${process.pid}`);
process.send?.({ ready: true });

await Promise.all(Array.from({ length: producers }, race));
await close();
await dataSource.destroy();
process.disconnect();

/** Notes a job that it has put in, and one that it was told is there, which is done by then or will be. */
async function race(): Promise<void> {
  for (let call = 0; call < calls; call++) {
    const { id, outcome } = await producer.enqueue('q', {}, { key: 'k', onConflict: 'coalesce' });
    if (outcome === 'created') journal.note('enqueued', id);
    else journal.noteToken('enqueued', 'joined', id);
  }
}
