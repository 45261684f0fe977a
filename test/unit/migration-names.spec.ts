import { sqlQueueMigrations } from '../../lib/store/databases/typeorm-migrations.js';

describe('the migrations for TypeORM', () => {
  it('keep the names that applications have stored', () => {
    const names = sqlQueueMigrations().map((migration) => new migration().name);

    expect(names).toEqual(['CreateSqlQueueTables1790000000001']);
  });
});
