import type { DataSource } from 'typeorm';
import { openEngine } from '../engine/engine.js';
import type { QueueOptions } from '../job/queue-options.js';
import { chooseDataSource, EMBEDDED_FILE, fallbackError } from './choose-data-source.js';
import { retryOf, withoutPassword } from './connection-options.js';
import { checkModuleOptions, type SqlQueueModuleOptions, type StaticOptions } from './module-options.js';
import { NestJobLogger } from './nest-job-logger.js';

/** Internal: the module provides its parts. */
export type ModuleEngine = Awaited<ReturnType<typeof openModuleEngine>>;

/** `found` and `decorated` may lack the results of factories that Nest has not run yet. */
export async function openModuleEngine(
  options: SqlQueueModuleOptions,
  given: StaticOptions,
  resolved: DataSource | undefined,
  found: readonly string[],
  decorated: ReadonlyMap<string, QueueOptions>,
) {
  checkModuleOptions(options);
  const { name, prefix } = given;
  const logger = new NestJobLogger(name ? `SqlQueue:${name}` : 'SqlQueue', options.logFormat);
  const { dataSource, isFallback, isApplications } = chooseDataSource(options, given, resolved, found);
  if (isFallback) logger.log(`No DataSource in the application: the queue is kept in ${EMBEDDED_FILE}.`);
  // Only the test harness changes it.
  const skew = { ms: 0 };
  const { connection } = options;
  const engine = await openEngine({
    dataSource,
    isApplications,
    connect: isFallback
      ? undefined
      : {
          ...retryOf(connection),
          option: connection ? 'connection' : 'dataSource',
          redact: (message) => withoutPassword(message, dataSource.options),
        },
    prefix,
    options,
    declaredOptions: decorated,
    logger,
    skew,
  }).catch((error: unknown) => {
    throw isFallback ? fallbackError(error) : error;
  });
  return { ...engine, options, skew, isFallback };
}
