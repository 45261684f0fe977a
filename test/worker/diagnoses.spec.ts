import { systemClock } from '../../lib/common/clock.js';
import { diagnose } from '../../lib/store/diagnose.js';
import type { Diagnosis } from 'nestjs-sql-queue';
import { describeEngines } from '../support/engines.js';

const SETTINGS = { clock: systemClock, shortestLeaseMs: 30_000, largestPayloadBytes: 1_048_576 };

// The servers of the tests are not durable.
const isHarmful = ({ level, check }: Diagnosis) => level === 'problem' && check !== 'durability';

describeEngines('the diagnoses of an administrator', (setup, server) => {
  const isSqlite = server.name === 'sqlite';

  it('are those of the doctor for the checks that any process may run', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    await producer.enqueue('q', 0);
    // The clock differs from call to call, and the sessions of the library have settings of their own.
    const isStable = ({ check }: { check: string }) => check !== 'clock' && check !== 'file' && check !== 'server';

    const light = await admin.diagnoses();
    const all = await diagnose({ ...SETTINGS, account: 'worker', dataSource: world.dataSource });

    const checks = [...new Set(light.map(({ check }) => check))];
    const expected = isSqlite
      ? ['file', 'tables', 'plan of the claim']
      : ['server', 'durability', 'tables', 'clock', 'plan of the claim'];
    expect(checks).toEqual(expected);
    expect(light.filter(isStable)).toEqual(all.filter((one) => isStable(one) && checks.includes(one.check)));
    expect(light.filter(isHarmful)).toEqual([]);
    expect(light.filter(({ level }) => level === 'unknown')).toEqual([]);
  });

  it('find a missing index while the process runs, with the statement that creates it', async () => {
    const world = await setup();
    const { admin } = await world.start({ autoStart: false });
    await world.sql(`DROP INDEX sql_queue_jobs_queue${isSqlite ? '' : ' ON sql_queue_jobs'}`);

    const found = (await admin.diagnoses()).filter(({ check }) => check === 'plan of the claim');
    await world.sql(/CREATE INDEX [^;]+/.exec(found[0]!.wayOut!)![0]);
    const repaired = (await admin.diagnoses()).filter(({ check }) => check === 'plan of the claim');

    expect(found).toMatchObject([{ level: 'problem', facts: 'the index sql_queue_jobs_queue is missing' }]);
    expect(repaired).toMatchObject([{ level: 'ok' }]);
  });

  it('do not wait for a transaction that keeps all jobs locked', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    await producer.enqueue('q', 0);
    const locker = (await world.connect()).createQueryRunner();
    await locker.query(isSqlite ? 'BEGIN IMMEDIATE' : 'BEGIN');
    world.afterTest(() => locker.release());
    await locker.query('UPDATE sql_queue_jobs SET priority = priority + 1');

    const diagnoses = await admin.diagnoses();
    await locker.query('ROLLBACK');

    expect(diagnoses.filter(isHarmful)).toEqual([]);
    expect(diagnoses).toContainEqual(expect.objectContaining({ check: 'plan of the claim', level: 'ok' }));
  });
});
