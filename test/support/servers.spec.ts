import { DataSource } from 'typeorm';
import { describeServers, freshDatabase } from './servers.js';

describeServers('a fresh database', (server) => {
  it('is empty, accepts tables and is deleted by drop()', async () => {
    const database = await freshDatabase(server);
    const source = await new DataSource({ ...database.connection, entities: [] }).initialize();
    try {
      await source.query('CREATE TABLE t (id INTEGER PRIMARY KEY)');
      await source.query('INSERT INTO t VALUES (1)');

      expect(await source.query('SELECT id FROM t')).toEqual([{ id: 1 }]);
    } finally {
      await source.destroy();
      await database.drop();
    }
  });
});
