import { DataSource, type DataSourceOptions } from 'typeorm';
import { openEngine } from '../../support/engine.js';
import { Journal } from '../../support/journal.js';
import type { JobInstructions } from './worker.js';

const { connection, journals, producers } = JSON.parse(process.argv[2]!) as {
  connection: object;
  journals: string;
  /** The number of producers that enqueue at the same time in each round. */
  producers: number;
};

const dataSource = await new DataSource(connection as DataSourceOptions).initialize();
const { producer, close } = await openEngine({ dataSource });
const journal = new Journal(journals, `requester-${process.pid}`);
const send = (message: object) => void process.send?.(message);
process.on(
  'message',
  ({ round, instructions, stop }: { round?: number; instructions?: JobInstructions; stop?: true }) => {
    if (round !== undefined) void startRound(round, instructions);
    if (stop) void end();
  },
);
// The test has ended.
process.on('disconnect', () => process.exit(1));
send({ ready: true });

/** All producers enqueue at once, and wait for the job as soon as they know its id. */
async function startRound(number: number, instructions: JobInstructions = {}): Promise<void> {
  let known = 0;
  await Promise.all(
    Array.from({ length: producers }, async () => {
      const { id, outcome } = await producer.enqueue('q', instructions, { key: 'k', onConflict: 'coalesce' });
      if (outcome === 'existing') journal.appendToken('enqueued', 'joined', id);
      else journal.append('enqueued', id);
      const answer = producer.waitFor(id);
      if (++known === producers) send({ text: `requested ${number}`, job: id });
      journal.appendToken('answered', JSON.stringify(await answer), id);
    }),
  );
  send({ text: `answered ${number}` });
}

async function end(): Promise<void> {
  await close();
  await dataSource.destroy();
  process.removeAllListeners('disconnect');
  process.disconnect();
}
