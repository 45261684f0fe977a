import { sqlQueueMigrations } from '../../lib/store/databases/typeorm-migrations.js';

describe('the migrations for TypeORM', () => {
  it('keep the names that applications have stored', () => {
    const names = sqlQueueMigrations().map((migration) => new migration().name);

    expect(names).toEqual([
      'CreateSqlQueueTables1790000000001',
      'CreateSqlQueueSchedules1790000000002',
      'CreateSqlQueueLimits1790000000003',
      'CreateSqlQueueSteps1790000000004',
      'CreateSqlQueueGroups1790000000005',
      'CreateSqlQueueFlows1790000000006',
      'CreateSqlQueueStats1790000000007',
      'CreateSqlQueueMetrics1790000000008',
      'CreateSqlQueueAudit1790000000009',
      'CreateSqlQueueSubjects1790000000010',
    ]);
  });
});
