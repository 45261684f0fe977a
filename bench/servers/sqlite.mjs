import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createRequire } from 'node:module';

/** No server: the workers' processes open the file themselves. */
export const sqlite = {
  id: 'sqlite',
  title: 'SQLite',
  async open(folder) {
    const Database = createRequire(import.meta.url)('better-sqlite3');
    const memory = new Database(':memory:');
    const { version } = memory.prepare('SELECT sqlite_version() AS version').get();
    memory.close();
    return {
      version,
      settings: { journal_mode: 'WAL', synchronous: 'FULL' },
      async create(name) {
        await mkdir(join(folder, name), { recursive: true });
        return `sqlite://${join(folder, name, 'queue.sqlite')}`;
      },
      drop: (name) => rm(join(folder, name), { recursive: true, force: true }),
      analyze: async () => {},
      async snapshot(name) {
        const reader = new Database(join(folder, name, 'queue.sqlite'));
        reader.exec('BEGIN');
        reader.prepare('SELECT COUNT(*) FROM sql_queue_schema').get();
        return async () => reader.close();
      },
      close: async () => {},
    };
  },
};
