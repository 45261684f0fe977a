import * as fc from 'fast-check';
import { DataSource } from 'typeorm';
import { systemClock } from '../../lib/common/clock.js';
import { openStore } from '../../lib/store/open-store.js';
import { pooledDatabase } from '../support/database-pool.js';
import type { TestServer } from '../support/servers.js';
import { LEASE_MS } from './actor.js';
import { checkEnd } from './checks.js';
import { FEATURES, histories, PLAIN, type Feature } from './commands.js';
import { WRITES } from './script.js';
import { World } from './world.js';

const NAMES = Object.keys(FEATURES) as Feature[];

export interface HistorySettings {
  readonly runs: number;
  readonly seed: number;
  readonly maxCommands?: number;
  /** The features of each history; default: a few at random. */
  readonly features?: readonly Feature[] | undefined;
  readonly endAfterMs?: number;
}

const { SQL_QUEUE_MODEL_SEED: SEED, SQL_QUEUE_MODEL_PATH: PATH, SQL_QUEUE_MODEL_RUNS: RUNS } = process.env;
const { SQL_QUEUE_MODEL_REPLAY: REPLAY, SQL_QUEUE_MODEL_FEATURES: GIVEN_FEATURES } = process.env;
const { SQL_QUEUE_MODEL_SECONDS: SECONDS } = process.env;

/** Runs random histories on the server. If one shows a fault, rejects with the shortest history that still does. */
export async function checkHistories(server: TestServer, settings: HistorySettings): Promise<void> {
  const database = await pooledDatabase(server);
  const dataSource = await new DataSource(database.connection).initialize();
  const endAfterMs = SECONDS ? Number(SECONDS) * 1_000 : settings.endAfterMs;
  try {
    await migrate(dataSource);
    await dataSource.query(`CREATE TABLE ${WRITES} (job_id BIGINT NOT NULL, v INT NOT NULL, part INT NOT NULL)`);
    await fc.assert(historiesOf(server, database.connection, dataSource, settings), {
      ...{ numRuns: Number(RUNS ?? settings.runs), seed: Number(SEED ?? settings.seed), endOnFailure: false },
      ...(PATH && { path: PATH }),
      ...(endAfterMs && { interruptAfterTimeLimit: endAfterMs }),
    });
  } finally {
    await dataSource.query(`DROP TABLE IF EXISTS ${WRITES}`);
    await dataSource.destroy();
    await database.drop();
  }
}

export async function migrate(dataSource: DataSource): Promise<void> {
  const limits = { shortestLeaseMs: LEASE_MS, largestPayloadBytes: 1_048_576 };
  const opened = await openStore({ dataSource, migrate: 'run', clock: systemClock, ...limits });
  await opened.jobs.close();
}

function historiesOf(
  server: TestServer,
  connection: Awaited<ReturnType<typeof pooledDatabase>>['connection'],
  dataSource: DataSource,
  {
    maxCommands = 30,
    features: given = GIVEN_FEATURES?.split(',').filter(Boolean) as Feature[] | undefined,
  }: HistorySettings,
) {
  const features = given ? fc.constant(given) : fc.subarray(NAMES, { minLength: 1, maxLength: 4 });
  const plain = fc.subarray([...PLAIN], { minLength: 1, maxLength: 3 });
  const history = fc
    .tuple(features, plain)
    .chain(([some, ops]) =>
      fc.record({ pages: fc.constantFrom(2, 3), commands: histories(some, ops, maxCommands, REPLAY) }),
    );
  return fc.asyncProperty(history, async ({ pages, commands }) => {
    const world = await World.open(server, connection, dataSource, pages);
    try {
      await fc.asyncModelRun(() => ({ model: world, real: world }), commands);
      await checkEnd(world);
    } finally {
      await world.close();
    }
  });
}
