import type { DataSource, DataSourceOptions } from 'typeorm';
import type { Clock, Skew } from '../../../common/clock.js';
import type { Dialect, SqlDatabase } from '../../core/sql-database.js';
import type { Statement } from '../../core/statement.js';
import type { BoundStatement, Templates } from '../../core/template.js';
import type { OnRetry } from '../../core/with-retry.js';
import type { Check } from '../../doctor/check.js';
import type { NotificationChannel } from '../../notifications/notification-channel.js';
import type { ClaimStrategies } from '../../rows/claim.js';
import type { StoreParts } from '../../rows/store-parts.js';
import type { WorkerLocks } from '../../rows/worker-locks.js';
import type { DatabaseSchema } from '../../schema/database-schema.js';
import type { SchemaSettings } from '../../schema/schema.js';
import type { Tables } from '../../tables/table-names.js';
import type { HostList } from './hosts.js';

/** All that the library knows of one kind of database. `databases/index.ts` has one record for each. */
export interface Database {
  /** The types of a DataSource, as TypeORM names them. */
  readonly types: readonly DataSourceOptions['type'][];
  /** Binds statements before the server is known. `open` finds out which dialect the server has. */
  readonly dialect: Dialect;
  readonly schema: DatabaseSchema;
  readonly connection: ConnectionRules;
  /** The checks of the doctor, in the order of the report. `open` makes its own checks at start. */
  readonly checks: readonly Check[];
  /** Whether a worker can hold a lock while its jobs run. */
  readonly hasWorkerLocks: boolean;
  /** Connects, checks the server and prepares the tables. Closes its connections if it rejects. */
  open(settings: OpenSettings, tables: Tables): Promise<OpenDatabase>;
  /** Connects and changes nothing, so that problems of the server and of the tables can be reported. */
  openUnchecked(settings: UncheckedSettings, tables: Tables): Promise<UncheckedDatabase>;
}

/** What the options of a DataSource say before it connects. Each function receives options of one of the types. */
export interface ConnectionRules {
  /** The place of the database for messages, without the password. */
  placeOf(options: DataSourceOptions): string;
  /** The problem if the options name no database. They would reach another one: that of this machine, or a deleted file. */
  placeProblem(options: DataSourceOptions): PlaceProblem | undefined;
  /** The problem if the installed driver would crash this process. */
  driverProblem?(options: DataSourceOptions): string | undefined;
  /** Why another thread or process cannot open the database; undefined if it can. */
  unsharedBecause(options: DataSourceOptions): string | undefined;
  /** Why a thread, which receives no driver of the application, cannot open the database; undefined if it can. */
  closedToThreadsBecause?(options: DataSourceOptions): string | undefined;
  /** The sockets of a DataSource, which would keep the process alive if the server does not answer. */
  socketsOf?(dataSource: DataSource): { destroy(): void } | undefined;
}

/** `isUnset`: the option has no value, so it was probably read before the environment was. */
export type PlaceProblem = Readonly<{ problem: string; isUnset: boolean }>;

export interface OpenSettings extends SchemaSettings {
  readonly dataSource: DataSource;
  /** Nodes of a cluster. The library connects to them instead of the DataSource's host. */
  readonly hosts?: HostList | undefined;
  readonly clock: Clock;
  readonly skew?: Skew | undefined;
  readonly shortestLeaseMs: number;
  readonly largestPayloadBytes: number;
  readonly onRetry?: OnRetry | undefined;
}

/** `database` and `blocking` do not store events yet. */
export interface OpenDatabase extends Pick<StoreParts, 'dialect' | 'database' | 'blocking'> {
  /** The path of the database; undefined on a server and in memory. */
  readonly file: string | undefined;
  readonly claims: ClaimStrategies;
  /** Binds a statement that the application sends: no driver, no session and no value can change its meaning. */
  readonly bindForApplication: (statement: Statement) => BoundStatement;
  /** Undefined if the database has no locks of workers. */
  readonly workerLocks: WorkerLocks | undefined;
  /** Undefined, like the other channels, if no other process can open the database. Close it before the database. */
  readonly workerChannel: NotificationChannel | undefined;
  /** For processes that wait for jobs to end. Each process listens to a name of its own. */
  readonly waiterChannel: NotificationChannel | undefined;
  /** For processes that listen to the events of all processes. A notification wakes all of them. */
  readonly eventChannel: NotificationChannel | undefined;
}

export interface UncheckedSettings {
  /** Connected until `close` if it is not connected. */
  readonly dataSource: DataSource;
  readonly clock: Clock;
  readonly skew?: Skew | undefined;
  readonly shortestLeaseMs: number;
}

/** A database whose server and tables were not checked. */
export interface UncheckedDatabase {
  readonly database: SqlDatabase;
  readonly dialect: Dialect;
  readonly templates: Templates;
  /** Undefined if no other process can open the database. */
  readonly channel: NotificationChannel | undefined;
  /** The path of the database; undefined on a server and in memory. */
  readonly file: string | undefined;
  close(): Promise<void>;
}

/** For one connection of the heartbeat, in any thread. */
export interface LeaseSettings {
  /** Only its options are read. */
  readonly dataSource: DataSource;
  readonly hosts: HostList;
  readonly shortestLeaseMs: number;
  readonly skewMs: number;
}
