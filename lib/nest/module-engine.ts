import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { openEngine, type Engine } from '../engine/engine.js';
import type { QueueOptions } from '../job/queue-options.js';
import { chooseDataSource, EMBEDDED_FILE } from './choose-data-source.js';
import { checkModuleOptions, type SqlQueueModuleOptions, type StaticOptions } from './module-options.js';

/** Internal: the module provides its parts. */
export interface ModuleEngine extends Engine {
  readonly options: SqlQueueModuleOptions;
  /** Milliseconds added to the time of the database. Only the test harness changes it. */
  readonly clockOffset: { ms: number };
  readonly isFallback: boolean;
}

/** `found` and `decorated` may lack the results of factories that Nest has not run yet. */
export async function openModuleEngine(
  options: SqlQueueModuleOptions,
  { name, prefix, ...given }: StaticOptions,
  resolved: DataSource | undefined,
  found: readonly string[],
  decorated: ReadonlyMap<string, QueueOptions>,
): Promise<ModuleEngine> {
  checkModuleOptions(options);
  const logger = new Logger(name ? `SqlQueue:${name}` : 'SqlQueue');
  const { dataSource, isFallback } = chooseDataSource(options, { name, ...given }, resolved, found);
  if (isFallback) logger.log(`No DataSource in the application: the queue is kept in ${EMBEDDED_FILE}.`);
  const clockOffset = { ms: 0 };
  const engine = await openEngine({
    dataSource,
    prefix,
    options,
    declaredOptions: decorated,
    logger,
    skewMs: () => clockOffset.ms,
  });
  return { ...engine, options, clockOffset, isFallback };
}
