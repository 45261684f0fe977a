import { DataSource, type DataSourceOptions } from 'typeorm';
import { openEngine } from '../../support/engine.js';
import { Journal } from '../../support/journal.js';
import type { Wish } from './worker.js';

const { connection, journals, producers } = JSON.parse(process.argv[2]!) as {
  connection: object;
  journals: string;
  /** Who ask at the same time, each round. */
  producers: number;
};

const dataSource = await new DataSource(connection as DataSourceOptions).initialize();
const { producer, close } = await openEngine({ dataSource });
const journal = new Journal(journals, `asker-${process.pid}`);
const say = (message: object) => void process.send?.(message);
process.on('message', ({ ask, wish, stop }: { ask?: number; wish?: Wish; stop?: true }) => {
  if (ask !== undefined) void round(ask, wish);
  if (stop) void end();
});
// The test is gone.
process.on('disconnect', () => process.exit(1));
say({ ready: true });

/** All ask for the job at once, and wait for it as soon as they know which it is. */
async function round(number: number, wish: Wish = {}): Promise<void> {
  let known = 0;
  await Promise.all(
    Array.from({ length: producers }, async () => {
      const { id, outcome } = await producer.enqueue('q', wish, { key: 'k', onConflict: 'coalesce' });
      if (outcome === 'existing') journal.noteToken('enqueued', 'joined', id);
      else journal.note('enqueued', id);
      const answer = producer.waitFor(id);
      if (++known === producers) say({ said: `asked ${number}`, job: id });
      journal.noteToken('answered', JSON.stringify(await answer), id);
    }),
  );
  say({ said: `answered ${number}` });
}

async function end(): Promise<void> {
  await close();
  await dataSource.destroy();
  process.removeAllListeners('disconnect');
  process.disconnect();
}
