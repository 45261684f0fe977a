import { InvalidOptionsError, QueueProcessor, QueueProducer, type ArchiveOptions } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { refusal, start, temporaryFolder } from './support/application.js';

class Jobs {
  @QueueProcessor('q')
  handle() {
    return 'done';
  }
}

describe('the option archive', () => {
  it('has jobs move there that no history is kept of', async () => {
    const connection = { type: 'better-sqlite3', database: `${await temporaryFolder()}/q.sqlite` } as const;
    const options = {
      connection,
      archive: { to: 'kept_jobs' },
      defaults: { retention: { completed: false } },
    } as const;
    const { get, idle, admin, close } = await start({ providers: [Jobs] }, options);
    const { id } = await get(QueueProducer).enqueue('q', 0);
    await idle();

    while ((await admin.prune()) === 0);

    expect(await admin.get(id)).toBeNull();
    await close();
    const dataSource = await new DataSource(connection).initialize();
    const rows = await dataSource.query<object[]>('SELECT id, state, result FROM kept_jobs');
    await dataSource.destroy();
    expect(rows).toEqual([{ id, state: 'completed', result: '"done"' }]);
  });

  it('is checked at boot, with the other options', async () => {
    const wrong = (archive: unknown) => refusal({}, { archive: archive as ArchiveOptions, enhancers: 'some' as never });

    expect(((await wrong({ to: 'a b', too: 1 })) as InvalidOptionsError).problems).toEqual([
      expect.stringMatching(/^expected enhancers/),
      'unknown option "too", did you mean "to"?',
      'expected archive.to to be 1 to 50 of the characters A-Z a-z 0-9 _, got "a b"',
    ]);
    expect(((await wrong('x')) as InvalidOptionsError).problems).toContain('expected archive to be { to }, got "x"');
  });
});
