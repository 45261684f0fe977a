import type { AuditHook } from '../audit/audit-trail.js';
import { DURATION_EXPECTED, type Duration } from '../common/units.js';
import { blobProblems, type BlobOptions } from '../job/codec/blob-options.js';
import { codecProblems, type CodecOption } from '../job/codec/codec-options.js';
import { contextProblems, type ContextPropagation } from '../job/context-propagation.js';
import { expected, isOptions } from '../job/expectation.js';
import { shorten } from '../common/message-text.js';
import { INSTRUMENTATION_METHODS, type QueueInstrumentation } from '../job/instrumentation.js';
import { isWhole, nameProblem } from '../job/identifiers.js';
import { checked, durationOf, either, func, group, kind, oneOf, option, type SchemaOf } from '../job/option-schema.js';
import type { QueuePattern } from '../job/queue-jobs.js';
import { queueOptionProblems, type QueueOptions } from '../job/queue-options.js';
import { hostProblem } from '../store/databases/port/hosts.js';
import { archiveProblems, type ArchiveOptions } from '../store/tables/archive-options.js';
import type { MigrateMode } from '../store/schema/schema.js';
import { workerOptionProblems, type WorkerOptions } from '../worker/worker-options.js';

/** Options of one queue that only the module takes, because every process that prunes must know them. */
export interface NamedQueueOptions extends QueueOptions {
  /**
   * The archive of the queue. Several queues may share a table. False: finished jobs are deleted when their retention ends.
   * Default: the `archive` of the module, or false if `retention.completed` is false.
   */
  archive?: ArchiveOptions | false;
}

/** Options by queue name, or by a prefix of queue names and a `*`. */
export type QueueOptionsByName = { [Name in QueuePattern]?: NamedQueueOptions };

/** The options of the module that do not concern Nest. */
export interface EngineOptions {
  /**
   * Nodes of a MySQL or MariaDB cluster, as `host` or `host:port`. The connections of the queue go to the first node that
   * answers and accepts writes, and move to the next one if it fails. All other connection options come from the
   * DataSource, and so does the port of a node without one. Default: the host of the DataSource.
   */
  hosts?: readonly string[];
  /** Options of every queue. */
  defaults?: QueueOptions;
  /** Options by queue. A name that ends in `*` stands for all queues with that prefix. */
  queues?: QueueOptionsByName;
  /** How the worker of this process works. False: this process runs no worker and only produces. Default true. */
  worker?: boolean | WorkerOptions;
  /**
   * The table that receives finished jobs when their retention ends. Queues with `retention: { completed: false }` or an
   * `archive` of their own do not use it. Default: finished jobs are deleted.
   */
  archive?: ArchiveOptions;
  /**
   * `run` (default): create and update the tables at boot, one process at a time. `check`: reject at boot if the tables are
   * out of date. `off`: neither.
   */
  schema?: { migrate?: MigrateMode };
  /**
   * Encodes the payloads, results, errors, progress, logs and steps of jobs before they are stored: `aesGcm()`, `compress()`,
   * or codecs of your own; in a list, one after the other. Every process that enqueues, works or reads jobs needs the same.
   * Queue and job names, keys, groups, headers, and the names and codes of errors are not encoded. Default: none.
   */
  codec?: CodecOption;
  /**
   * Moves long payloads and results into an object store or a folder, after the codecs. The rows keep references. All
   * processes need the same store. Default: none.
   */
  blobs?: BlobOptions;
  /** Observe the jobs of this process. Default: none. */
  instrumentations?: readonly QueueInstrumentation[];
  /**
   * Called after each change of QueueAdmin, QueueGroup and QueueSchedules in this process, with its author, to write it to
   * a log of your own. The call does not wait for it. If it throws, the error is logged. Default: none; the changes of
   * all processes are in `QueueAdmin.audit` anyway.
   */
  audit?: AuditHook;
  /** How long `QueueAdmin.audit` keeps a change: 1h or more. False: for ever. Default 90d. */
  auditRetention?: Duration | false;
  /** Carries values of an AsyncLocalStorage from producers to handlers. Default: none. */
  context?: ContextPropagation;
  /** How deployments change the schedules of @Schedule(). */
  schedules?: CodeScheduleOptions;
}

/** If two versions of the program declare a schedule differently, the higher revision wins. */
export interface CodeScheduleOptions {
  /**
   * The release of this program: a whole number of 0 or more, or a text of 1 to 100 characters whose digits compare as
   * numbers (`1.10` is higher than `1.9`). Default: the time at which this process started, so the later start wins.
   */
  revision?: string | number;
  /**
   * A schedule that no worker has declared for this time is deleted: 2h or more. False: such schedules stay, without
   * ticks. Default 1d.
   */
  keepUndeclared?: Duration | false;
}

// A worker records within an hour that it declares a schedule.
const MIN_UNDECLARED_MS = 2 * 3_600_000;

const REVISION = kind(
  'a whole number of 0 or more, or a text of 1 to 100 printable ASCII characters',
  (value): value is string | number =>
    isWhole(value, 0, Number.MAX_SAFE_INTEGER) || (typeof value === 'string' && /^[\x20-\x7e]{1,100}$/.test(value)),
);

export const CODE_SCHEDULES = {
  revision: option(REVISION),
  keepUndeclared: option(either(false, durationOf(`${DURATION_EXPECTED} from 2h`, MIN_UNDECLARED_MS)), '1d'),
} satisfies SchemaOf<CodeScheduleOptions>;

const MIN_AUDIT_RETENTION_MS = 3_600_000;

export const AUDIT_RETENTION = option(
  either(false, durationOf(`${DURATION_EXPECTED} from 1h`, MIN_AUDIT_RETENTION_MS)),
  '90d',
);

/** A caller with options of its own adds them. */
export const ENGINE_OPTIONS = {
  defaults: checked((defaults) => prefixProblems('defaults', queueOptionProblems(defaults))),
  queues: checked(queuesProblems),
  worker: checked((worker) =>
    typeof worker === 'boolean' ? [] : prefixProblems('worker', workerOptionProblems(worker)),
  ),
  archive: checked(archiveProblems),
  schema: group({ migrate: option(oneOf('run', 'check', 'off')) }, 'schema.'),
  schedules: group(CODE_SCHEDULES, 'schedules.'),
  hosts: checked(hostsProblems),
  codec: checked(codecProblems),
  blobs: checked(blobProblems),
  instrumentations: checked(instrumentationProblems),
  audit: option(func<AuditHook>()),
  auditRetention: AUDIT_RETENTION,
  context: checked(contextProblems),
} satisfies SchemaOf<EngineOptions>;

function queuesProblems(queues: unknown): (string | undefined)[] {
  if (!isOptions(queues)) return [expected(false, 'queues to be options by queue', queues)];
  return Object.entries(queues).flatMap(([queue, given]) => [
    queue === '*' ? undefined : nameProblem('queue name', queue.replace(/\*$/, '')),
    ...prefixProblems(`queues["${shorten(queue)}"]`, namedQueueProblems(given, queue)),
  ]);
}

function hostsProblems(hosts: unknown): (string | undefined)[] {
  if (!Array.isArray(hosts) || hosts.length === 0) return [expected(false, 'hosts to be a list of nodes', hosts)];
  return hosts.map(hostProblem);
}

function instrumentationProblems(all: unknown): (string | undefined)[] {
  if (!Array.isArray(all)) return [expected(false, 'instrumentations to be a list', all)];
  return all.map((one: unknown, index) =>
    expected(
      isOptions(one) &&
        INSTRUMENTATION_METHODS.some((method) => typeof (one as QueueInstrumentation)[method] === 'function'),
      `instrumentations[${index}] to have at least one of the methods ${INSTRUMENTATION_METHODS.join(', ')}`,
      one,
    ),
  );
}

function prefixProblems(place: string, problems: readonly string[]): string[] {
  return problems.map((problem) => `${place}: ${problem}`);
}

function namedQueueProblems(given: unknown, queue: string): string[] {
  if (!isOptions(given)) return queueOptionProblems(given, queue);
  const { archive, ...options } = given as NamedQueueOptions;
  const problems = archive === false ? [] : archiveProblems(archive);
  return [...queueOptionProblems(options, queue), ...problems.filter((line) => line !== undefined)];
}
