import { Injectable } from '@nestjs/common';
import { QueueSchedules } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { Tenant } from './tenant.entity.js';

@Injectable()
export class TenantsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly schedules: QueueSchedules,
  ) {}

  /** Stores the tenant and its schedule in one transaction: there is never one without the other. */
  async add(name: string, cron: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.save(Tenant, { name });
      const payload = { tenant: name };
      await this.schedules.upsert(`report-of-${name}`, { queue: 'report.build', cron, payload }, { manager });
    });
  }
}
