import {
  InvalidOptionsError,
  QueueProcessor,
  QueueProducer,
  type ArchiveOptions,
  type QueueOptions,
  type SqlQueueModuleOptions,
} from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { startError, start, temporaryFolder } from './support/application.js';

class Jobs {
  @QueueProcessor('q')
  handle() {
    return 'done';
  }

  @QueueProcessor('brief', { retention: { completed: false } })
  forget() {
    return 'forgotten';
  }

  @QueueProcessor('dying', { retry: 1, retention: { dead: 0 } })
  die() {
    throw new Error('dead');
  }
}

const GONE = { completed: 0 } as const;

describe('the option `archive`', () => {
  /** Runs one job of each queue, prunes, and returns the queues of the jobs in each table. */
  async function archivedBy(
    options: SqlQueueModuleOptions,
    tables: readonly string[],
    queues = ['q', 'brief', 'dying'],
  ) {
    const connection = { type: 'better-sqlite3', database: `${await temporaryFolder()}/q.sqlite` } as const;
    const { get, idle, admin, close } = await start({ providers: [Jobs] }, { ...options, connection });
    for (const queue of queues) await get(QueueProducer).enqueue(queue, 0);
    await idle();
    const remaining = async () => {
      const { completed, dead } = await admin.counts();
      return completed + dead;
    };
    while ((await remaining()) > 0) await admin.prune();
    await close();
    const dataSource = await new DataSource(connection).initialize();
    const read = async (table: string) => {
      const rows = await dataSource.query<{ queue: string }[]>(`SELECT queue FROM ${table} ORDER BY id`);
      return [table, rows.map(({ queue }) => queue)] as const;
    };
    const found = Object.fromEntries(await Promise.all(tables.map(read)));
    await dataSource.destroy();
    return found;
  }

  it('moves jobs at the end of their retention, but no job of a queue that retains no completed jobs', async () => {
    const options = { archive: { to: 'kept_jobs' }, defaults: { retention: GONE } };

    expect(await archivedBy(options, ['kept_jobs'])).toEqual({ kept_jobs: ['q', 'dying'] });
  });

  it('of a queue overrides that of the module and a retention of false', async () => {
    const options = {
      archive: { to: 'kept_jobs' },
      defaults: { retention: GONE },
      queues: { brief: { archive: { to: 'brief_jobs' } }, dying: { archive: false } },
    } as const;

    const found = await archivedBy(options, ['kept_jobs', 'brief_jobs']);

    expect(found).toEqual({ kept_jobs: ['q'], brief_jobs: ['brief'] });
  });

  it('of some queues leaves the jobs of other queues without an archive', async () => {
    const options = { defaults: { retention: GONE }, queues: { 'd*': { archive: { to: 'some_jobs' } } } };

    expect(await archivedBy(options, ['some_jobs'])).toEqual({ some_jobs: ['dying'] });
  });

  it('is rejected for several invalid queues at once, and outside the options of the module', async () => {
    const error = (await startError(
      {},
      {
        defaults: { archive: false } as QueueOptions,
        queues: { a: { archive: { to: 'a b' } }, b: { archive: true as never }, c: { archive: false }, d: 7 as never },
      },
    )) as InvalidOptionsError;

    expect(error.problems).toEqual([
      'defaults: "archive" belongs to the options of the module, as `archive` or `queues: { name: { archive } }`',
      'queues["a"]: expected archive.to to be 1 to 50 of the characters A-Z a-z 0-9 _, got "a b"',
      'queues["b"]: expected archive to be { to }, got true',
      'queues["d"]: expected queue options, got 7',
    ]);
  });

  it('is checked at boot together with the other options', async () => {
    const wrong = (archive: unknown) =>
      startError({}, { archive: archive as ArchiveOptions, enhancers: 'some' as never });

    expect(((await wrong({ to: 'a b', too: 1 })) as InvalidOptionsError).problems).toEqual([
      'unknown option "too", did you mean "to"?',
      'expected archive.to to be 1 to 50 of the characters A-Z a-z 0-9 _, got "a b"',
      expect.stringMatching(/^expected enhancers/),
    ]);
    expect(((await wrong('x')) as InvalidOptionsError).problems).toContain('expected archive to be { to }, got "x"');
  });
});
