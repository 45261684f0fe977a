import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { checkAndResolve } from '../../job/option-schema.js';
import { findProvider } from '../../nest/find-provider.js';
import type { ModuleEngine } from '../../nest/module-engine.js';
import { getEngineToken } from '../../nest/tokens.js';
import { DatabaseProbe } from './database-probe.js';
import {
  LIVENESS_OPTIONS,
  PROBLEMS_OPTIONS,
  READINESS_OPTIONS,
  type LivenessOptions,
  type ProblemsOptions,
  type ReadinessOptions,
} from './health-options.js';
import { queueProblems } from './queue-problems.js';
import type { HealthStatus } from './health-status.js';
import { liveness } from './liveness.js';
import { readiness, type ReadinessParts } from './readiness.js';

/**
 * Health checks of the queue in this process, for @nestjs/terminus.
 *
 * @example
 * ```ts
 * @Get('ready') @HealthCheck()
 * ready() {
 *   return this.health.check([() => this.queue.check('queue', { maxLag: '5m' })]);
 * }
 *
 * @Get('live') @HealthCheck()
 * live() {
 *   return this.health.check([() => this.queue.checkLiveness('queue')]);
 * }
 * ```
 */
export class SqlQueueHealthIndicator implements OnModuleInit, OnModuleDestroy {
  #parts: ReadinessParts | undefined;
  #isClosing = false;

  /** @internal `SqlQueueTerminusModule` creates it. */
  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly results: HealthIndicatorService,
    private readonly instance: string | undefined,
  ) {}

  onModuleInit(): void {
    this.#parts = this.#createParts();
  }

  onModuleDestroy(): void {
    this.#isClosing = true;
  }

  /**
   * Readiness: `down` while the application closes, while its worker does not run, during an outage of the database, and if
   * its tables are missing or older than this release. A lag is `degraded`: terminus 11, which has no such status, gets `up`
   * with `degraded: true`. Sends one statement, and with `maxLag` a second one.
   *
   * @param key the name of the check in the answer
   * @throws InvalidOptionsError if an option is invalid
   */
  async check<const Key extends string>(key: Key, options: ReadinessOptions = {}): Promise<HealthIndicatorResult<Key>> {
    const resolved = checkAndResolve('Cannot check readiness', READINESS_OPTIONS, options);
    return this.#resultOf(key, await readiness(this.#initialized, resolved));
  }

  /**
   * Liveness: `down` only if the worker runs and has stopped polling, so that a restart helps. It stays `up` while the
   * database is away. Sends no statement.
   *
   * @param key the name of the check in the answer
   * @throws InvalidOptionsError if an option is invalid
   */
  async checkLiveness<const Key extends string>(
    key: Key,
    options: LivenessOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const resolved = checkAndResolve('Cannot check liveness', LIVENESS_OPTIONS, options);
    const { runner, clock } = this.#initialized;
    return this.#resultOf(key, liveness(runner.health(), resolved, clock));
  }

  /**
   * Whether queues are broken, by the rules of `QueueAdmin.problems`, which the board, the command and the alerts share. For
   * a monitor: `degraded` if a queue is `broken`, and `down` only for the rules that you name. Reads the shared statistics.
   *
   * @param key the name of the check in the answer
   * @throws InvalidOptionsError if an option is invalid
   * @example this.queue.checkProblems('queues', { down: ['no-worker', 'failing'], queues: ['order.*'] })
   */
  async checkProblems<const Key extends string>(
    key: Key,
    options: ProblemsOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const resolved = checkAndResolve('Cannot check the problems', PROBLEMS_OPTIONS, options);
    return this.#resultOf(key, await queueProblems(this.#initialized, resolved));
  }

  get #initialized(): ReadinessParts {
    if (this.#parts) return this.#parts;
    throw new Error('The health of the queue can be checked from the hook onModuleInit() of its module on.');
  }

  #createParts(): ReadinessParts {
    const token = getEngineToken(this.instance);
    const { runner, admin, stores, clock, options } = findProvider<ModuleEngine>(
      this.moduleRef,
      token,
      this.instance,
      'SqlQueueTerminusModule',
    );
    const { worker } = options;
    const startsItself = worker !== false && !(typeof worker === 'object' && worker.autoStart === false);
    return {
      ...{ runner, admin, clock },
      probe: new DatabaseProbe(stores.readSchemaState, clock),
      isClosing: () => this.#isClosing,
      hasOwnRunner: () => startsItself && runner.queues.length > 0,
    };
  }

  #resultOf<const Key extends string>(key: Key, { status, facts }: HealthStatus): HealthIndicatorResult<Key> {
    const session = this.results.check(key);
    if (status === 'down') return session.down(facts);
    if (status === 'up') return session.up(facts);
    return 'degraded' in session ? session.degraded(facts) : withoutDegraded(session, facts);
  }
}

/** Terminus 11 would ignore a result with a status that it does not know. */
function withoutDegraded<Key extends string>(
  session: { up(facts: HealthStatus['facts']): HealthIndicatorResult<Key> },
  facts: HealthStatus['facts'],
): HealthIndicatorResult<Key> {
  return session.up({ ...facts, degraded: true });
}
