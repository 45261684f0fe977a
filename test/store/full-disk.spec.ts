import Sqlite from 'better-sqlite3';
import { instantClock } from '../support/fake-clock.js';
import { newJob } from '../support/jobs.js';
import { describeStoresOf } from '../support/stores.js';

describeStoresOf(['sqlite'], 'a verb on a full disk', (setup) => {
  it('rejects with the error of SQLite, and does its work when there is room', async () => {
    const { connect, open } = await setup();
    const handles: Sqlite.Database[] = [];
    const driver = class extends Sqlite {
      constructor(...given: ConstructorParameters<typeof Sqlite>) {
        super(...given);
        handles.push(this);
      }
    };
    const { jobs } = await open({ dataSource: await connect({ driver }), clock: instantClock() });
    const large = newJob({ payload: JSON.stringify('x'.repeat(1_000_000)) });
    const limitPages = (count: number) => handles.forEach((handle) => handle.pragma(`max_page_count = ${count}`));

    // The limit cannot be below the present size of the file.
    limitPages(1);
    const enqueueing = jobs.enqueue([large]);

    await expect(enqueueing).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      outcome: 'not-done',
      message: 'The database did not do the work: SQLITE_FULL database or disk is full',
    });
    limitPages(1_000_000);
    expect(await jobs.enqueue([large])).toHaveLength(1);
  });
});
