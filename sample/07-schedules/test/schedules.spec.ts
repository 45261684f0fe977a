import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { QueueSchedules, SqlQueueModule } from 'nestjs-sql-queue';
import { createJobContext, QueueHarness } from 'nestjs-sql-queue/testing';
import { databaseOptions } from '../../shared/database.js';
import { Reports } from '../reports.js';
import { Tenant } from '../tenant.entity.js';
import { TenantsService } from '../tenants.service.js';

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
    const before = performance.now();
    await app.init();
    const harness = QueueHarness.of(app);

    await app.get(TenantsService).add('acme', '0 * * * * *');
    const ran = await harness.advance('2m');
    const seconds = (performance.now() - before) / 1_000;

    const names = (await app.get(QueueSchedules).list()).map(({ name }) => name);
    expect(names.sort()).toEqual(['report-of-acme', 'report-of-all']);
    expect(new Set(ran.map(({ outcome }) => outcome))).toEqual(new Set(['complete']));
    // 60 reports for all tenants and 2 for the first, and those of the time in which the test ran.
    expect(ran.length).toBeGreaterThanOrEqual(62);
    expect(ran.length).toBeLessThanOrEqual(64 + seconds);
    await app.close();
  });
});
