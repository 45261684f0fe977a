import type { DataSource } from 'typeorm';
import type { Clock } from '../common/clock.js';
import type { JobLogger } from '../common/job-logger.js';
import type { QueueOptions } from '../job/queue-options.js';
import type { openStore } from '../store/open-store.js';
import type { EngineOptions } from './engine-options.js';

/** The options of an application, and the surroundings that tests replace. */
export interface EngineSettings {
  /** The engine connects it if it is not connected, and closes only a connection that it opened. */
  readonly dataSource: DataSource;
  /** Prefix of the table names. Default `sql_queue_`. */
  readonly prefix?: string | undefined;
  readonly options: EngineOptions;
  /** The options that handlers declare, by queue, as far as they are known before the store opens. */
  readonly declaredOptions?: ReadonlyMap<string, QueueOptions> | undefined;
  readonly logger: JobLogger;
  readonly clock?: Clock | undefined;
  /** Returns numbers from 0 to below 1, for jitter and for the choice between queues. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Milliseconds added to the time of the database. Default 0. */
  readonly skewMs?: (() => number) | undefined;
  readonly openStore?: typeof openStore | undefined;
}
