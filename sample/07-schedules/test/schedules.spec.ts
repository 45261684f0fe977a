import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { QueueSchedules, SqlQueueModule } from 'nestjs-sql-queue';
import { createJobContext, QueueHarness } from 'nestjs-sql-queue/testing';
import { databaseOptions } from '../../shared/database.js';
import { Reports } from '../reports.js';
import { Tenant } from '../tenant.entity.js';
import { TenantsService } from '../tenants.service.js';

const MINUTE = 60_000;

describe('Reports', () => {
  it('builds a report outside of a schedule too', () => {
    expect(() => new Reports().build(createJobContext({ tenant: 'acme' }))).not.toThrow();
  });
});

describe('the tenants and a worker', () => {
  it('build one report at each tick', async () => {
    const app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...databaseOptions('./test.sqlite'), entities: [Tenant], synchronize: true }),
        SqlQueueModule.forRoot({ worker: { autoStart: false } }),
      ],
      providers: [TenantsService, Reports],
    }).compile();
    await app.init();
    const schedules = app.get(QueueSchedules);
    await app.get(TenantsService).add('acme', '0 * * * * *');
    const firstTicks = (await schedules.list()).map(({ name, nextAt }) => ({ name, time: nextAt!.getTime() }));

    const ran = await QueueHarness.of(app).advance('2m');

    expect(firstTicks.map(({ name }) => name)).toEqual(['report-of-acme', 'report-of-all']);
    const [acme, all] = (await schedules.list()).map(({ lastAt }, i) => lastAt!.getTime() - firstTicks[i]!.time);
    // The clock of the database goes on while the test runs, so there may be some more ticks.
    expect(acme).toBeGreaterThanOrEqual(MINUTE);
    expect(all).toBeGreaterThanOrEqual(2 * MINUTE - 2_000);
    expect(ran).toHaveLength(acme! / MINUTE + 1 + all! / 2_000 + 1);
    expect(new Set(ran.map(({ outcome }) => outcome))).toEqual(new Set(['complete']));
    await app.close();
  });
});
