// Checked by `npm run typecheck`, never run: lists of entities that can contain the entities of the library.
import { sqlQueueEntities, type SqlQueueHistoryRow } from 'nestjs-sql-queue';
import { DataSource, EntitySchema, type DataSourceOptions } from 'typeorm';

class User {
  id!: number;
}

const Thing = new EntitySchema<{ size: number }>({ name: 'Thing', columns: { size: { type: Number, primary: true } } });

export const options: DataSourceOptions[] = [
  { type: 'mysql', entities: sqlQueueEntities() },
  { type: 'mysql', entities: [User, Thing, ...sqlQueueEntities({ prefix: 'jobs_' })] },
];

export function entities(): EntitySchema[] {
  const schemas = [Thing];
  schemas.push(...sqlQueueEntities());
  const all: (typeof User | string | EntitySchema)[] = [User, ...schemas];
  all.push(...sqlQueueEntities());
  return schemas;
}

export const dead = (dataSource: DataSource): Promise<SqlQueueHistoryRow[]> =>
  dataSource.getRepository<SqlQueueHistoryRow>('SqlQueueHistory').findBy({ state: 'dead' });
