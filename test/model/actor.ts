import { DataSource } from 'typeorm';
import type { Clock } from '../../lib/common/clock.js';
import { DEFAULT_GROUP_RULES } from '../../lib/job/groups/group-options.js';
import type { ClaimedJob } from '../../lib/job/job.js';
import { isFinalOutcome, outcomeAfterExpiredLease, type Outcome } from '../../lib/job/outcome.js';
import type { QueueOptions } from '../../lib/job/queue-options.js';
import { randomId } from '../../lib/job/identifiers.js';
import { QueueEvents } from '../../lib/listen/queue-events.js';
import type { WaitNotifier } from '../../lib/listen/wait-notifier.js';
import { pruneTasks } from '../../lib/engine/prune-tasks.js';
import type { PruneTask } from '../../lib/worker/pruner.js';
import { ActiveClaim } from '../../lib/worker/queue/active-claim.js';
import { Attempt } from '../../lib/worker/run/attempt.js';
import type { AttemptParts } from '../../lib/worker/run/attempt-parts.js';
import { JobLogWriter } from '../../lib/worker/run/job-log-writer.js';
import type { Handler } from '../../lib/worker/run/handler-table.js';
import { Run } from '../../lib/worker/queue/queue-runs.js';
import type { ChosenStrategies } from '../../lib/store/verbs/job-store.js';
import { openEngine, type Engine } from '../support/engine.js';
import type { ServerName, TestConnection } from '../support/servers.js';
import { Gate } from './gate.js';
import { play, type Ledger } from './script.js';

export const MINUTE = 60_000;
export const LEASE_MS = 10 * MINUTE;
export const ATTEMPTS = 3;
export const BACKOFF_MS = 10 * MINUTE;

/** `turns`: groups of one job at a time. `pairs`: groups without a limit, unless an administrator sets one. */
export const QUEUES: Readonly<Record<string, QueueOptions>> = {
  plain: {},
  turns: { groups: { concurrency: 1, onRetry: 'pass' } },
  pairs: { groups: {} },
  kids: {},
};
export const QUEUE_NAMES = Object.keys(QUEUES);

/** A job that an actor has claimed and not ended. */
export interface HeldJob {
  readonly job: ClaimedJob;
  readonly claim: ActiveClaim;
}

export interface RanJob {
  readonly outcome: Outcome;
  /** The claim had lost the job, so nothing was written. */
  readonly isLost: boolean;
}

/** A clock that tests advance. A pause of a retry lasts some milliseconds, a longer one has no end. */
class ActorClock implements Clock {
  /** The pauses since the last reset: an actor that waits for another one repeats its call. */
  pauses = 0;

  constructor(
    private readonly gate: Gate,
    readonly monotonic: () => number,
  ) {}

  now(): Date {
    return new Date();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0 || signal?.aborted) return;
    if (ms > 2_000) return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
    this.pauses++;
    await this.gate.untilReleased();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }

  /** No call of an actor has a time limit. */
  after(): () => void {
    return () => undefined;
  }
}

interface ActorSettings {
  readonly server: ServerName;
  readonly connection: TestConnection;
  readonly ledger: Ledger;
  readonly elapsedMs: () => number;
  readonly skewMs: () => number;
}

const SILENT = { notifyChanged: () => undefined } as unknown as WaitNotifier;

/** A process without loops: each call does what a loop of a worker, a producer or an administrator would do next. */
export class Actor {
  readonly held: HeldJob[] = [];
  readonly #logWriter: JobLogWriter;
  readonly #workerId = `worker-${randomId()}`;
  readonly #pruneTasks: readonly PruneTask[];
  /** The last claim has announced that the next one may find jobs. */
  mayFindMore = false;

  private constructor(
    readonly gate: Gate,
    readonly clock: ActorClock,
    readonly engine: Engine,
    private readonly strategies: ChosenStrategies['byQueue'],
    private readonly dataSource: DataSource,
    private readonly ledger: Ledger,
  ) {
    const { stores, logger, settler, notifier } = engine.opened;
    this.#logWriter = new JobLogWriter(stores.jobLogs, SILENT, clock, logger);
    const schedules = { declared: new Map(), revision: '' };
    const settings = {
      auditRetentionMs: false,
      codec: undefined,
      logger,
      workerOptions: {},
    } as const;
    this.#pruneTasks = pruneTasks(
      { ...stores, jobs: { ...stores.jobs, cleanUp: async () => 0 } },
      notifier,
      settler,
      schedules,
      false,
      settings,
    );
  }

  static async start({ server, connection, ledger, elapsedMs, skewMs }: ActorSettings): Promise<Actor> {
    const gate = new Gate();
    const clock = new ActorClock(gate, elapsedMs);
    const dataSource = await new DataSource({ ...connection, driver: gate.driver(server) }).initialize();
    const engine = await openEngine({
      ...{ dataSource, clock, storeClock: clock, skewMs, queues: { ...QUEUES } },
      defaults: {
        lease: LEASE_MS,
        retry: { attempts: ATTEMPTS, backoff: BACKOFF_MS },
        retention: { completed: '30d', dead: '30d' },
      },
      worker: { notify: false },
    });
    const { byQueue } = await engine.store.chooseStrategies(new Map(QUEUE_NAMES.map((queue) => [queue, 'auto'])));
    return new Actor(gate, clock, engine, byQueue, dataSource, ledger);
  }

  /** As a worker does after a poll: nothing if the queue is paused or has no job. */
  async claim(queue: string, limit: number): Promise<readonly ClaimedJob[]> {
    const { store } = this.engine;
    this.mayFindMore = false;
    const state = (await store.summarizeWork([queue])).queues.get(queue);
    if (!state || state.paused || state.isResting || !state.waiting) return [];
    const { settings } = this.engine.opened;
    const options = settings.of(queue);
    const groups = options.groups ?? (state.hasGroups ? DEFAULT_GROUP_RULES : undefined);
    const request = {
      ...{ claimId: randomId(), workerId: this.#workerId, queue, limit, startLimit: limit, leaseMs: options.leaseMs },
      ...{ order: options.order, strategy: this.strategies.get(queue)!.name, maxAttempts: options.retry.attempts },
      ...{ deadLetter: options.deadLetter, isLimited: state.isLimited, ...(groups && { groups }) },
      onMoreIn: () => (this.mayFindMore = true),
    };
    const jobs = await store.claim(request);
    const claim = new ActiveClaim(request, jobs, this.clock.monotonic());
    for (const job of jobs) this.held.push({ job, claim });
    return jobs;
  }

  /** Runs the handler of a claimed job, and does what follows its outcome. */
  async work({ job, claim }: HeldJob): Promise<RanJob> {
    const isLast = this.held.every((other) => other.claim !== claim);
    const { stores, settings, logger, settler } = this.engine.opened;
    const options = settings.of(job.queue);
    const parts: AttemptParts = {
      ...{ workerId: this.#workerId, stores, logger },
      ...{ clock: this.clock, random: () => 0.5, optionsFor: (name) => settings.of(name) },
      ...{ events: new QueueEvents(logger), announce: () => undefined, jobLogWriter: this.#logWriter },
    };
    const attempt = new Attempt(claim, job, options, parts, this.clock.monotonic());
    const late: (() => Promise<void>)[] = [];
    const requested = await stores.jobs.cancelRequests([claim.id]);
    const isCancelled = requested.get(claim.id)?.includes(job.id) ?? false;
    const handle: Handler = (context) => play(context, this.ledger, (act) => late.push(act));
    const [end] = isCancelled
      ? [attempt.endWithoutHandler({ kind: 'cancel' })]
      : await new Run([attempt], this.clock).execute({ handle });
    const { outcome, isDetached } = end!;
    await attempt.finish();
    let isLost = false;
    if (isDetached) await stores.jobs.deleteEmptyClaims([claim.id]);
    else {
      const completion = attempt.completionOf(outcome);
      const progress = { id: claim.id, startLimit: Number.MAX_SAFE_INTEGER, isFinished: isLast };
      const rest = { mayHaveCommitted: false, mayBeRescued: new Set([claim.id]) };
      const { lost } = await stores.jobs.complete({
        completions: [completion],
        claims: isLast ? [progress] : [],
        ...rest,
      });
      isLost = lost.size > 0;
    }
    for (const act of late) await act();
    // Promises that the handler has forgotten end before the next command.
    await new Promise((resolve) => setImmediate(resolve));
    if (isLost) return { outcome, isLost };
    if (outcome.kind === 'snooze' && outcome.signal !== undefined) await stores.steps.wakeWaiting(outcome.signal);
    if (outcome.kind === 'block') await settler.recheck([job.id]);
    else if (isFinalOutcome(outcome)) await settler.settle([job.id]);
    return { outcome, isLost };
  }

  /** The parts of a poll and of the pruner that make jobs ready to run. */
  async sweep(): Promise<void> {
    const { stores, settler } = this.engine.opened;
    const { store } = this.engine;
    while ((await store.promote(500)).length > 0);
    await this.rescue();
    for (let hasMore = true; hasMore;) {
      const result = await stores.schedules.runTicks([]);
      hasMore = result.hasMore || result.jobs.length > 0;
    }
    await settler.sweep();
    await stores.steps.wakeMissed();
  }

  async rescue(): Promise<void> {
    const { settings, logger, settler } = this.engine.opened;
    const parts = { clock: this.clock, logger, random: () => 0.5, codec: undefined };
    const rescued = await this.engine.store.rescue({
      decide: (job) => outcomeAfterExpiredLease(job, job, job.mayHaveStarted, settings.of(job.queue).retry, parts),
      retentionMs: (queue) => settings.of(queue).retention.deadMs,
      isHeld: (claimId) => this.held.some(({ claim }) => claim.id === claimId),
      isRunning: () => false,
    });
    await settler.settle(rescued.filter(({ outcome }) => isFinalOutcome(outcome)).map(({ job }) => job.id));
  }

  /** Renews the leases of all jobs that it holds. */
  async heartbeat(): Promise<void> {
    const claimIds = [...new Set(this.held.map(({ claim }) => claim.id))];
    if (claimIds.length > 0) await this.engine.store.extend(claimIds);
  }

  /** Deletes everything that has expired, but no job that stands in no queue: no verb leaves one. */
  async prune(): Promise<void> {
    for (const task of this.#pruneTasks) for (let round = 0; round < 20 && (await task(500)) > 0; round++);
  }

  async close(): Promise<void> {
    if (!this.gate.isKilled) this.gate.release();
    await this.engine.store.close().catch(() => undefined);
    await this.dataSource.destroy().catch(() => undefined);
    await this.gate.close();
  }
}
