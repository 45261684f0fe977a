import type { INestApplicationContext } from '@nestjs/common';
import { randomInt, randomUUID } from 'node:crypto';
import { InvalidOptionsError, UnknownQueueError } from '../../job/errors.js';
import { expected } from '../../job/expectation.js';
import type { Outcome } from '../../job/outcome.js';
import type { StoredError } from '../../job/stored-error.js';
import { QueueEvents } from '../../listen/queue-events.js';
import type { ModuleEngine } from '../../nest/module-engine.js';
import { getEngineToken } from '../../nest/tokens.js';
import { ActiveClaim } from '../../worker/queue/active-claim.js';
import { Attempt, toAttemptEnd } from '../../worker/run/attempt.js';
import { Run } from '../../worker/queue/queue-runs.js';
import { DURATION_EXPECTED, toMs, type Duration } from '../../common/units.js';

/** A job that the harness ran. */
export interface RanJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly attempt: number;
  readonly outcome: Outcome['kind'] | 'hand-off';
  readonly result: unknown;
  readonly error: StoredError | undefined;
}

/**
 * Runs the jobs of an application step by step in tests. It uses the real store and handlers, but no poll loops and no
 * heartbeats. It requires the module option `worker: { autoStart: false }`.
 *
 * @example
 * ```ts
 * const harness = QueueHarness.of(app);
 * await app.get(Signups).signUp('ada@example.com');
 * expect(await harness.runNext()).toMatchObject({ queue: 'email.welcome', outcome: 'complete' });
 * ```
 */
export class QueueHarness {
  readonly #workerId = randomUUID();

  private constructor(private readonly engine: ModuleEngine) {}

  /** @param instance the `name` of the module instance, if the application has several */
  static of(app: INestApplicationContext, { instance }: { instance?: string } = {}): QueueHarness {
    const engine = app.get<ModuleEngine>(getEngineToken(instance), { strict: false });
    InvalidOptionsError.throwIfAny('QueueHarness', [
      expected(
        engine.runner.state === 'stopped',
        'a runner that is stopped (worker: { autoStart: false })',
        engine.runner.state,
      ),
    ]);
    return new QueueHarness(engine);
  }

  /** Runs the next due job, of one queue or of all, to its outcome. Resolves with null if no job is due. */
  async runNext(queue?: string): Promise<RanJob | null> {
    const { stores, handlers } = this.engine;
    if (queue !== undefined && !handlers.queues.includes(queue)) throw new UnknownQueueError(queue, handlers.queues);
    while ((await stores.jobs.promote(1_000)).length > 0);
    for (const each of queue === undefined ? handlers.queues : [queue]) {
      const ran = await this.#runOne(each);
      if (ran) return ran;
    }
    return null;
  }

  /** Runs all due jobs, and the due jobs that these enqueue. Resolves with them in order. */
  async drain(queue?: string): Promise<RanJob[]> {
    const all: RanJob[] = [];
    for (let ran = await this.runNext(queue); ran; ran = await this.runNext(queue)) all.push(ran);
    return all;
  }

  /**
   * Advances the time that the queue reads from its database, so that scheduled jobs and retries become due. Ticks of
   * schedules on the way run one after the other, each at its time, and then all jobs that are due at that time.
   *
   * @returns the jobs that ran at ticks
   */
  async advance(by: Duration): Promise<RanJob[]> {
    const ms = toMs(by);
    InvalidOptionsError.throwIfAny('Cannot advance', [expected(ms !== undefined, DURATION_EXPECTED, by)]);
    const { stores, clock, skew } = this.engine;
    const schedules = [...this.engine.declaredSchedules.keys()];
    const startedAt = clock.monotonic();
    const endMs = skew.ms + ms!;
    const ran: RanJob[] = [];
    for (;;) {
      ran.push(...(await this.#runTicks(schedules)));
      // The time that the jobs take counts too. Otherwise slow jobs of frequent ticks would never end.
      const leftMs = endMs - skew.ms - (clock.monotonic() - startedAt);
      const { tickInMs } = await stores.jobs.readUpcomingTimes(schedules);
      // Ticks that have become due meanwhile are not among the upcoming ones.
      const late = await this.#runTicks(schedules);
      ran.push(...late);
      if (late.length > 0) continue;
      if (tickInMs === null || tickInMs > leftMs) break;
      skew.ms += tickInMs;
    }
    skew.ms = endMs;
    return ran;
  }

  /** Runs the ticks that are due, and then all due jobs if there was a tick. */
  async #runTicks(schedules: readonly string[]): Promise<RanJob[]> {
    let jobCount = 0;
    for (let hasMore = true; hasMore;) {
      const result = await this.engine.stores.schedules.runTicks(schedules);
      ({ hasMore } = result);
      jobCount += result.jobs.length;
    }
    return jobCount > 0 ? this.drain() : [];
  }

  async #runOne(queue: string): Promise<RanJob | null> {
    const { stores, settings, clock, logger, handlers, settler } = this.engine;
    const store = stores.jobs;
    const options = settings.of(queue);
    const claimId = randomInt(1, 2 ** 48 - 1);
    const { byQueue } = await store.chooseStrategies(new Map([[queue, options.claim]]));
    const request = {
      claimId,
      queue,
      workerId: this.#workerId,
      limit: 1,
      startLimit: 1,
      strategy: byQueue.get(queue)!.name,
      order: options.order,
      leaseMs: options.leaseMs,
      maxAttempts: options.retry.attempts,
      deadLetter: options.deadLetter,
      isLimited: true,
      ...(options.groups && { groups: options.groups }),
    };
    await stores.limits.declareLimits(new Map([[queue, options.limits]]));
    const jobs = await store.claim(request);
    const [job] = jobs;
    if (!job) return null;
    const claim = new ActiveClaim(request, jobs, clock.monotonic());
    const optionsFor = (name: string) => settings.of(name);
    const parts = {
      ...{ workerId: this.#workerId, stores, clock, logger },
      ...{ optionsFor, events: new QueueEvents(logger), announce: () => undefined, random: Math.random },
    };
    const attempt = new Attempt(claim, job, options, parts, clock.monotonic());
    const entry = handlers.find(queue, job.name);
    const [end] = entry ? await new Run([attempt], clock).execute(entry) : [];
    const { outcome, result, isDetached, isHandedOff } = end ?? toAttemptEnd({ kind: 'snooze', delayMs: 10_000 });
    if (outcome.kind === 'release' && outcome.rest) {
      if (job.group === null) await stores.limits.rest(queue, outcome.rest);
      else await stores.groups.rest(queue, job.group, outcome.rest);
    }
    if (isDetached) await store.deleteEmptyClaims([claimId]);
    else
      await store.complete({
        completions: [attempt.completionOf(outcome)],
        claims: [{ id: claimId, startLimit: 1, isFinished: true }],
        mayHaveCommitted: false,
        mayBeRescued: new Set(),
      });
    if (outcome.kind === 'block') await settler.recheck([job.id]);
    else await settler.settle([job.id]);
    const error = 'error' in outcome ? outcome.error : undefined;
    const kind = isHandedOff ? 'hand-off' : outcome.kind;
    return { id: job.id, queue, name: job.name, attempt: job.attempt, outcome: kind, result, error };
  }
}
