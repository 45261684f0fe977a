import { Module, type DynamicModule } from '@nestjs/common';
import type { EntitySchema } from 'typeorm';
import type { StaticOptions } from './module-options.js';

@Module({})
class EntitiesModule {}

/**
 * Registers the entities with TypeOrmModule, so that `autoLoadEntities` finds them. Only that: their repositories would need
 * a DataSource, which the application may not have. A promise, since @nestjs/typeorm may not be installed.
 */
export async function registerEntities(
  entities: readonly EntitySchema[],
  dataSource?: StaticOptions['dataSource'],
): Promise<DynamicModule> {
  // TypeOrmModule knows names and objects; what has another token it has not made.
  if (typeof dataSource === 'symbol' || typeof dataSource === 'function') return { module: EntitiesModule };
  const typeorm = await import('@nestjs/typeorm').catch(() => undefined);
  typeorm?.TypeOrmModule.forFeature([...entities], dataSource);
  return { module: EntitiesModule };
}
