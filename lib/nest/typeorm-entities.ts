import { Module, type DynamicModule } from '@nestjs/common';
import type { DataSource, EntitySchema } from 'typeorm';

@Module({})
class EntitiesModule {}

/**
 * Registers the entities with TypeOrmModule, so that `autoLoadEntities` finds them. Only that: their repositories would need
 * a DataSource, which the application may not have. A promise, since @nestjs/typeorm may not be installed.
 */
export async function registerEntities(
  entities: readonly EntitySchema[],
  dataSource?: string | DataSource,
): Promise<DynamicModule> {
  const typeorm = await import('@nestjs/typeorm').catch(() => undefined);
  typeorm?.TypeOrmModule.forFeature([...entities], dataSource);
  return { module: EntitiesModule };
}
