import { jest } from '@jest/globals';
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
    await app.init();
    const harness = QueueHarness.of(app);

    const ticks: Record<string, number[]> = {};
    jest.spyOn(app.get(Reports), 'build').mockImplementation(({ schedule }) => {
      (ticks[schedule!.name] ??= []).push(schedule!.at.getTime());
    });

    await app.get(TenantsService).add('acme', '0 * * * * *');
    await harness.advance('2m');

    expect((await app.get(QueueSchedules).list()).map(({ name }) => name).sort()).toEqual(Object.keys(ticks).sort());
    expect(ticks['report-of-all']!.length).toBeGreaterThanOrEqual(60);
    expect(gapsOf(ticks['report-of-all']!)).toEqual([2_000]);
    expect(gapsOf(ticks['report-of-acme']!)).toEqual([60_000]);
    await app.close();
  });
});

/** The different times between two neighbouring ticks. */
function gapsOf(ticks: number[]): number[] {
  return [...new Set(ticks.slice(1).map((tick, index) => tick - ticks[index]!))];
}
