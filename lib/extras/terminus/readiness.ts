import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { Clock } from '../../common/clock.js';
import { withTimeout } from '../../common/abort.js';
import type { Resolved } from '../../job/option-schema.js';
import { isEnabledNow } from '../../job/settings/enabled.js';
import { matchesAny } from '../../job/queue-pattern.js';
import type { RunnerHealth } from '../../worker/runner-health.js';
import type { DatabaseProbe } from './database-probe.js';
import type { READINESS_OPTIONS } from './health-options.js';
import { degraded, down, up, type HealthStatus } from './health-status.js';

type Facts = HealthStatus['facts'];

export interface ReadinessParts {
  readonly runner: { health(): RunnerHealth };
  readonly admin: Pick<QueueAdmin, 'stats' | 'problems'>;
  readonly probe: DatabaseProbe;
  readonly clock: Clock;
  /** Whether the application is closing. */
  readonly isClosing: () => boolean;
  /** The default of `requireRunner`. */
  readonly hasOwnRunner: () => boolean;
}

const SCHEMA_PROBLEMS = {
  missing: 'The tables of the queue are missing',
  older: 'The tables of the queue are older than this release',
} as const;

/** Whether this process can do its work. A backlog only degrades it: fewer processes would not shorten a queue. */
export async function readiness(
  parts: ReadinessParts,
  options: Resolved<typeof READINESS_OPTIONS>,
): Promise<HealthStatus> {
  const { probe, clock } = parts;
  const { state, databaseDownSince, running, prefetched } = parts.runner.health();
  const facts: Facts = { runner: state, running, prefetched };
  if (parts.isClosing()) return down({ ...facts, reason: 'The application is closing' });
  if ((options.requireRunner ?? parts.hasOwnRunner()) && state !== 'running')
    return down({ ...facts, reason: `The worker is ${state}` });
  const schema = await probe.read(options.timeout);
  const pollsDownMs = databaseDownSince === null ? 0 : clock.now().getTime() - databaseDownSince.getTime();
  const downMs = Math.round(Math.max(probe.downMs, pollsDownMs));
  if (downMs >= options.maxOutage) return down({ ...facts, databaseDownMs: downMs, reason: 'The database is away' });
  // A failover takes seconds. Callers wait for it, so the process stays ready.
  if (schema === undefined) return up({ ...facts, databaseDownMs: downMs });
  if (schema === 'missing' || schema === 'older') return down({ ...facts, schema, reason: SCHEMA_PROBLEMS[schema] });
  const lag = options.maxLag === undefined ? undefined : await lagProblem(parts, options, options.maxLag);
  if (lag) return degraded({ ...facts, schema, ...lag });
  // A newer release has updated the tables. Running processes go on until the deployment replaces them.
  return schema === 'newer'
    ? degraded({ ...facts, schema, reason: 'The tables belong to a newer release' })
    : up({ ...facts, schema });
}

/** Undefined if no queue lags. */
async function lagProblem(
  { admin, clock }: ReadinessParts,
  { queues, timeout }: Pick<Resolved<typeof READINESS_OPTIONS>, 'queues' | 'timeout'>,
  maxLag: number,
): Promise<Facts | undefined> {
  try {
    const reading = admin.stats({ maxAge: Math.max(5_000, Math.min(maxLag / 4, 60_000)) });
    if (!(await withTimeout(clock, timeout, reading))) return { reason: 'The statistics did not come in time' };
    const lagging = (await reading).filter(
      (one) =>
        (one.oldestWaitingMs ?? 0) > maxLag &&
        (queues === undefined || matchesAny(queues, one.queue)) &&
        !one.paused &&
        isEnabledNow(one),
    );
    if (lagging.length === 0) return undefined;
    const lagMs = Math.max(...lagging.map(({ oldestWaitingMs }) => oldestWaitingMs ?? 0));
    return { lagMs, lagging: lagging.map(({ queue }) => queue).slice(0, 20), reason: 'Jobs wait for too long' };
  } catch (error) {
    return { reason: `Cannot read the statistics: ${(error as Error).message}` };
  }
}
