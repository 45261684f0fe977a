import { DataSource, type DataSourceOptions } from 'typeorm';
import { fileBlobs } from '../../../lib/extras/codecs/file-blobs.js';
import { openEngine } from '../../support/engine.js';

const { connection, folder, killAt } = JSON.parse(process.argv[2]!) as {
  connection: object;
  folder: string;
  /** The process kills itself while it stores its first blob, or right after it. */
  killAt: 'during put' | 'after put';
};

const dataSource = await new DataSource(connection as DataSourceOptions).initialize();
const files = fileBlobs({ folder });
const die = () => process.kill(process.pid, 'SIGKILL');
const { producer } = await openEngine({
  dataSource,
  blobs: {
    store: {
      put: async (key, body, options) => {
        const putting = files.put(key, body, options);
        if (killAt === 'during put') die();
        await putting;
        die();
      },
      get: (key, options) => files.get(key, options),
    },
    over: 100,
  },
});
process.send?.({ ready: true });

await producer.enqueue('q', 'x'.repeat(1_000_000));
