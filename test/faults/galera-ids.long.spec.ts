import { openWorld, plainJobs } from '../support/engines.js';
import { OwnCluster } from '../support/own-cluster.js';
import { freshDatabase, type TestServer } from '../support/servers.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe('the first enqueueMany of a process', () => {
  it('returns the ids of its jobs on Galera, which are as far apart as there are nodes', async () => {
    const cluster = await OwnCluster.start('galera');
    cleanups.push(() => cluster.end());
    const server: TestServer = { name: 'mariadb', url: cluster.urls[0]! };
    const { connection } = await freshDatabase(server);
    const { world, close } = await openWorld(server, connection);
    cleanups.push(close);
    const { producer } = await world.start({ autoStart: false });

    const enqueued = await producer.enqueueMany('q', plainJobs(5));

    const rows = await world.sql<{ id: string }>('SELECT id FROM sql_queue_jobs ORDER BY id');
    const ids = rows.map(({ id }) => Number(id));
    expect(enqueued.map(({ id }) => id)).toEqual(ids);
    expect(ids[1]! - ids[0]!).toBe(3);
  });
});
