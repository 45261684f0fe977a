import type { INestApplicationContext } from '@nestjs/common';
import { randomInt, randomUUID } from 'node:crypto';
import { InvalidOptionsError, UnknownQueueError } from '../job/errors.js';
import { expected } from '../job/expectation.js';
import type { Outcome } from '../job/outcome.js';
import type { StoredError } from '../job/stored-error.js';
import type { Engine } from '../nest/engine.js';
import { getEngineToken } from '../nest/tokens.js';
import { HeldClaim } from '../runtime/held-claim.js';
import { Attempt } from '../runtime/attempt.js';
import { ended } from '../runtime/attempt-end.js';
import { Run } from '../runtime/run.js';
import { DURATION_EXPECTED, toMs, type Duration } from '../time/duration.js';

/** One job that the harness ran. */
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
 * An application's queue, cranked by hand: its real store and handlers, without loops, leases or waiting. Give the module
 * `worker: { autoStart: false }`.
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

  private constructor(private readonly engine: Engine) {}

  /** @param instance the module's `name`, where an application has several */
  static of(app: INestApplicationContext, { instance }: { instance?: string } = {}): QueueHarness {
    const engine = app.get<Engine>(getEngineToken(instance), { strict: false });
    InvalidOptionsError.throwIfAny('QueueHarness', [
      expected(
        engine.runner.state === 'stopped',
        'a queue that does not work by itself (worker: { autoStart: false })',
        engine.runner.state,
      ),
    ]);
    return new QueueHarness(engine);
  }

  /** Runs the next job that is due, of the queue or of any, to its outcome; null where there is none. */
  async runNext(queue?: string): Promise<RanJob | null> {
    const { store, handlers } = this.engine;
    if (queue !== undefined && !handlers.queues.includes(queue)) throw new UnknownQueueError(queue, handlers.queues);
    while ((await store.promote(1_000)) > 0);
    for (const each of queue === undefined ? handlers.queues : [queue]) {
      const ran = await this.#runOne(each);
      if (ran) return ran;
    }
    return null;
  }

  /** Runs jobs until none is due, those that they enqueue included; answers them in order. */
  async drain(queue?: string): Promise<RanJob[]> {
    const all: RanJob[] = [];
    for (let ran = await this.runNext(queue); ran; ran = await this.runNext(queue)) all.push(ran);
    return all;
  }

  /** Moves the database's clock, as far as the queue goes: delayed jobs and retries become due. */
  advance(by: Duration): void {
    const ms = toMs(by);
    InvalidOptionsError.throwIfAny('Cannot advance', [expected(ms !== undefined, DURATION_EXPECTED, by)]);
    this.engine.skew.ms += ms!;
  }

  async #runOne(queue: string): Promise<RanJob | null> {
    const { store, settings, clock, logger, handlers } = this.engine;
    const options = settings.of(queue);
    const claimId = randomInt(1, 2 ** 48 - 1);
    const { of } = await store.chooseStrategies(new Map([[queue, options.claim]]));
    const request = {
      ...{ claimId, queue, workerId: this.#workerId, limit: 1, started: 1 },
      ...{
        strategy: of.get(queue)!.name,
        order: options.order,
        leaseMs: options.leaseMs,
        maxAttempts: options.retry.attempts,
        deadLetter: options.deadLetter,
      },
    };
    const jobs = await store.claim(request);
    const [job] = jobs;
    if (!job) return null;
    const claim = new HeldClaim(request, jobs, clock.monotonic());
    const parts = { workerId: this.#workerId, store, clock, logger, random: Math.random };
    const attempt = new Attempt(claim, job, options, parts, clock.monotonic());
    const entry = handlers.find(queue, job.name);
    const [end] = entry ? await new Run([attempt], options, clock).outcomes(entry) : [];
    const { outcome, result, committed, handedOff } = end ?? ended({ kind: 'snooze', delayMs: 10_000 });
    if (committed) await store.retire([claimId]);
    else {
      const claims = [{ id: claimId, started: 1, finished: true }];
      await store.settle({ settlements: [attempt.settlement(outcome)], claims, again: false, mayBeTaken: new Set() });
    }
    const error = 'error' in outcome ? outcome.error : undefined;
    const kind = handedOff ? 'hand-off' : outcome.kind;
    return { id: job.id, queue, name: job.name, attempt: job.attempt, outcome: kind, result, error };
  }
}
