import type { ModuleMetadata, Type } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { ENGINE_OPTIONS, type EngineOptions } from '../engine/engine-options.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, requireOptions } from '../job/expectation.js';
import { checked, oneOf, option, optionProblems, type SchemaOf } from '../job/option-schema.js';
import { tableNames } from '../store/tables/table-names.js';
import { connectionProblems, type QueueConnection } from './connection-options.js';
import { LOG_FORMATS, type LogFormat } from './nest-job-logger.js';

/** Options that decide an injection token or an entity. They cannot come from a factory. */
export interface StaticOptions {
  /** The name of this instance, if the application has several. Decorators refer to it as `instance`. */
  name?: string;
  /**
   * The TypeORM DataSource that holds the queue: its name in TypeOrmModule, the token of another provider, or the object.
   * Default: the default DataSource of the application.
   */
  dataSource?: string | symbol | Type<DataSource> | DataSource;
  /** Modules that export the DataSource, or the providers that the factory of the options injects. */
  imports?: ModuleMetadata['imports'];
  /** Whether every module can inject the producer without importing this module. Default true. */
  isGlobal?: boolean;
  /**
   * Prefix of the table names, 1 to 40 of the characters A-Z a-z 0-9 _. The `entityPrefix` of the DataSource, if any,
   * precedes it. Default `sql_queue_`.
   */
  prefix?: string;
}

export interface SqlQueueModuleOptions extends EngineOptions {
  /**
   * A database for the queue only, instead of the DataSource of the application. `embedded` is the file
   * ./sql-queue.sqlite. It is also the default if the application has no DataSource and NODE_ENV is not `production`.
   */
  connection?: QueueConnection | 'embedded';
  /**
   * The guards, interceptors, pipes and filters that run around handlers. `local`: those on the class and the method.
   * `all`: also the global ones of the application. `none`: only pipes. Default `local`.
   */
  enhancers?: 'local' | 'all' | 'none';
  /**
   * Whether the boot warns of loaded classes with decorators of the library that no module provides. `ignore`: for a process
   * that loads classes which other processes provide. Default `warn`.
   */
  unprovided?: 'warn' | 'ignore';
  /**
   * How the parameters of log lines (`queue`, `jobId`, `name`, `attempt`, `workerId`, `traceId`) reach the logger of the
   * application. `params`: as an object after the message (ConsoleLogger of Nest 12). `object`: in one object, with the message
   * as `msg` (nestjs-pino). `text`: after the message (all other loggers). Default `auto`: recognizes the logger.
   */
  logFormat?: LogFormat;
}

export const OPTIONS_PLACE = 'SqlQueueModule options';

const MODULE_OPTIONS = {
  ...ENGINE_OPTIONS,
  enhancers: option(oneOf('local', 'all', 'none')),
  unprovided: option(oneOf('warn', 'ignore')),
  logFormat: option(oneOf(...LOG_FORMATS)),
  connection: checked(connectionProblems),
} satisfies SchemaOf<SqlQueueModuleOptions>;

const BESIDE_FACTORY = 'decides a token or a table and has to stand beside useFactory';
const STATIC_OPTIONS = {
  name: BESIDE_FACTORY,
  dataSource: BESIDE_FACTORY,
  imports: BESIDE_FACTORY,
  isGlobal: BESIDE_FACTORY,
  prefix: BESIDE_FACTORY,
} satisfies Record<keyof StaticOptions, string>;

export function checkModuleOptions(options: SqlQueueModuleOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionsError(OPTIONS_PLACE, [expected(false, 'an object', options)!]);
  }
  InvalidOptionsError.throwIfAny(OPTIONS_PLACE, optionProblems(MODULE_OPTIONS, options, { misplaced: STATIC_OPTIONS }));
}

export function checkStaticOptions(options: StaticOptions): void {
  const { name, dataSource, isGlobal, prefix } = requireOptions(OPTIONS_PLACE, options, 'an object');
  InvalidOptionsError.throwIfAny(OPTIONS_PLACE, [
    expected(
      name === undefined || (typeof name === 'string' && /^[\w.-]{1,50}$/.test(name)),
      'name to be 1 to 50 of the characters A-Z a-z 0-9 _ . -',
      name,
    ),
    expected(
      ['undefined', 'string', 'symbol', 'function'].includes(typeof dataSource) ||
        typeof (dataSource as DataSource | null)?.createQueryRunner === 'function',
      'dataSource to be a DataSource, or the name or token of one',
      typeof dataSource,
    ),
    expected(isGlobal === undefined || typeof isGlobal === 'boolean', 'isGlobal to be true or false', isGlobal),
  ]);
  tableNames(prefix);
}
