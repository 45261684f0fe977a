import type { ModuleMetadata, Type } from '@nestjs/common';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, short, unknownKeys } from '../job/expectation.js';
import { nameProblem } from '../job/job-names.js';
import type { QueuePattern } from '../job/queue-jobs.js';
import { queueOptionProblems, type QueueOptions } from '../job/queue-options.js';
import { workerOptionProblems, type WorkerOptions } from '../runtime/worker-options.js';
import { archiveProblems, type ArchiveOptions } from '../store/archive.js';
import { hostProblem } from '../store/dialects/hosts.js';
import type { MigrateMode } from '../store/schema.js';
import { tableNames } from '../store/tables.js';

/** What decides a token or an entity, and so cannot come from a factory. */
export interface StaticOptions {
  /** Sets this instance of the module apart from others in the application; used as `instance` in the decorators. */
  name?: string;
  /**
   * The TypeORM DataSource that holds the queue: its name in TypeOrmModule, the token of another provider, or the object itself.
   * Default: the application's default one.
   */
  dataSource?: string | symbol | Type<DataSource> | DataSource;
  /** Modules that export the DataSource, or what the factory of the options injects. */
  imports?: ModuleMetadata['imports'];
  /** Whether producers can be injected without importing the module again. Default true. */
  isGlobal?: boolean;
  /** Of the tables' names, 1 to 40 of A-Z a-z 0-9 _, behind the DataSource's `entityPrefix` if it has one. Default `sql_queue_`. */
  prefix?: string;
}

/** Options of one queue that only the module takes: every process that prunes must know them. */
export interface NamedQueueOptions extends QueueOptions {
  /**
   * The queue's own archive; several queues may share a table. False: its finished jobs are deleted when their retention is
   * over. Default: the module's `archive`, or false if `retention.completed` is false.
   */
  archive?: ArchiveOptions | false;
}

/** Options by queue, or by the beginning of its name and a `*`. */
export type QueueOptionsByName = { [Name in QueuePattern]?: NamedQueueOptions };

export interface SqlQueueModuleOptions {
  /**
   * A database of the queue's own, instead of the application's DataSource. `embedded` is the file ./sql-queue.sqlite, which is
   * also the default of an application without any DataSource, but not if NODE_ENV is `production`.
   */
  connection?: DataSourceOptions | 'embedded';
  /**
   * Nodes of a MySQL or MariaDB cluster, as `host` or `host:port`: the queue's own connections go to the first that answers
   * and may be written to, and to the next when it fails. Whatever else says how to connect is the DataSource's. Default:
   * the DataSource's host.
   */
  hosts?: readonly string[];
  /** For every queue. */
  defaults?: QueueOptions;
  /** By queue; a name that ends in `*` stands for all that begin so. */
  queues?: QueueOptionsByName;
  /** How this process works; false: it only produces. Default true. */
  worker?: boolean | WorkerOptions;
  /**
   * Which guards, interceptors, pipes and filters run around handlers: `local` those on the class and the method, `all` also
   * the application's global ones, `none` only pipes. Default `local`.
   */
  enhancers?: 'local' | 'all' | 'none';
  /**
   * Finished jobs go into this table when their retention is over, instead of being deleted, but not those of queues that say
   * `retention: { completed: false }` or an `archive` of their own. Default: they are deleted.
   */
  archive?: ArchiveOptions;
  /** `run` (default): make and update the tables at boot, one process at a time. `check`: refuse to boot. `off`. */
  schema?: { migrate?: MigrateMode };
}

export type StaticKeys = keyof StaticOptions;

const KNOWN: readonly (keyof SqlQueueModuleOptions)[] = [
  'connection',
  'hosts',
  'defaults',
  'queues',
  'worker',
  'enhancers',
  'schema',
  'archive',
];

const STATIC: readonly string[] = ['name', 'dataSource', 'imports', 'isGlobal', 'prefix'] satisfies StaticKeys[];

/** Refuses wrong options, all problems at once. */
export function checkModuleOptions(options: SqlQueueModuleOptions): void {
  const where = 'SqlQueueModule options';
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionsError(where, [expected(false, 'an object', options)!]);
  }
  const {
    defaults,
    queues = {},
    worker = true,
    enhancers = 'local',
    schema = {},
    connection,
    hosts,
    archive,
  } = options;
  // What is no options at all is said below.
  const { migrate = 'run' } = isOptions(schema) ? schema : {};
  const named = Object.entries(isOptions(queues) ? queues : {});
  const misplaced = Object.keys(options).filter((key) => STATIC.includes(key));
  InvalidOptionsError.throwIfAny(where, [
    ...misplaced.map((key) => `"${key}" decides a token or a table and has to stand beside useFactory`),
    ...unknownKeys(options, [...KNOWN, ...misplaced]),
    ...(defaults === undefined ? [] : under('defaults', queueOptionProblems(defaults))),
    expected(isOptions(queues), 'queues to be options by queue', queues),
    ...named.flatMap(([queue, given]) => [
      queue === '*' ? undefined : nameProblem('queue name', queue.replace(/\*$/, '')),
      ...under(`queues["${short(queue)}"]`, namedQueueProblems(given, queue)),
    ]),
    ...(typeof worker === 'boolean' ? [] : under('worker', workerOptionProblems(worker))),
    expected(['local', 'all', 'none'].includes(enhancers), `enhancers to be 'local', 'all' or 'none'`, enhancers),
    ...archiveProblems(archive),
    ...under('schema', unknownKeys(schema, ['migrate'])),
    expected(['run', 'check', 'off'].includes(migrate), `schema.migrate to be 'run', 'check' or 'off'`, migrate),
    expected(hosts === undefined || (Array.isArray(hosts) && hosts.length > 0), 'hosts to be a list of nodes', hosts),
    ...(Array.isArray(hosts) ? hosts.map(hostProblem) : []),
    connectionProblem(connection),
  ]);
}

function namedQueueProblems(given: unknown, queue: string): string[] {
  if (!isOptions(given)) return queueOptionProblems(given, queue);
  const { archive, ...options } = given as NamedQueueOptions;
  const problems = archive === false ? [] : archiveProblems(archive);
  return [...queueOptionProblems(options, queue), ...problems.filter((line) => line !== undefined)];
}

function connectionProblem(connection: unknown): string | undefined {
  if (connection === undefined || connection === 'embedded') return undefined;
  if (!isOptions(connection)) {
    return expected(false, `connection to be the options of a DataSource, or 'embedded'`, typeof connection);
  }
  const isTyped = 'type' in connection && typeof connection.type === 'string';
  return isTyped
    ? undefined
    : `expected connection to have a \`type\` ('mysql', 'mariadb' or 'better-sqlite3'), got none. There is no Redis`;
}

export function checkStaticOptions(options: StaticOptions): void {
  const where = 'SqlQueueModule options';
  if (!isOptions(options)) throw new InvalidOptionsError(where, [expected(false, 'an object', options)!]);
  const { name, dataSource, isGlobal, prefix } = options;
  InvalidOptionsError.throwIfAny(where, [
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

function under(place: string, problems: readonly string[]): string[] {
  return problems.map((problem) => `${place}: ${problem}`);
}
