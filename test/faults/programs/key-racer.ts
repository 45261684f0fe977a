import { DataSource, type DataSourceOptions } from 'typeorm';
import { openEngine } from '../../support/engine.js';
import { Journal } from '../../support/journal.js';

const { connection, journals, producers, calls } = JSON.parse(process.argv[2]!) as {
  connection: object;
  journals: string;
  /** The number of concurrent producers. */
  producers: number;
  /** The number of calls per producer. */
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

/** Records each job that it creates, and each unfinished job that it joins. */
async function race(): Promise<void> {
  for (let call = 0; call < calls; call++) {
    const { id, outcome } = await producer.enqueue('q', {}, { key: 'k', onConflict: 'coalesce' });
    if (outcome === 'created') journal.append('enqueued', id);
    else journal.appendToken('enqueued', 'joined', id);
  }
}
