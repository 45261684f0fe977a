import { Module, type DynamicModule } from '@nestjs/common';
import type { EntitySchema } from 'typeorm';
import type { StaticOptions } from './module-options.js';

@Module({})
class EntitiesModule {}

/**
 * Registers the entities with TypeOrmModule, so that `autoLoadEntities` finds them. It provides no repositories, because
 * the application may have no DataSource. It is asynchronous, because @nestjs/typeorm may not be installed.
 */
export async function registerEntities(
  entities: readonly EntitySchema[],
  dataSource?: StaticOptions['dataSource'],
): Promise<DynamicModule> {
  // TypeOrmModule creates DataSources with a name only, so one with another token is not from TypeOrmModule.
  if (typeof dataSource === 'symbol' || typeof dataSource === 'function') return { module: EntitiesModule };
  const typeorm = await import('@nestjs/typeorm').catch(() => undefined);
  typeorm?.TypeOrmModule.forFeature([...entities], dataSource);
  return { module: EntitiesModule };
}
