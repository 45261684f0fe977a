import { randomUUID } from 'node:crypto';
import { after, type RuleParts } from '../job/user-rule.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, isOptions, unknownKeys } from '../job/expectation.js';
import type { ClaimedJob } from '../job/job.js';
import { jobIdProblem } from '../job/job-id.js';
import { nameProblem } from '../job/job-names.js';
import { pageProblems, type PageOptions } from '../job/page-options.js';
import { leaseProblem } from '../job/lease.js';
import { waitsAgain, type Outcome } from '../job/outcome.js';
import { encodeResult } from '../job/payload.js';
import { snooze } from '../job/snooze.js';
import type { ResolvedQueueOptions } from '../job/queue-options.js';
import type { AssignedJobPage, ConsumerStore, EndedAssignment, Holder } from '../store/consumer-store.js';
import type { PromotedJob } from '../store/job-store.js';
import type { Clock } from '../time/clock.js';
import { toMs, type Duration } from '../time/duration.js';
import { resolveClaimOptions, stageProblem, type ClaimOptions } from './claim-options.js';
import { afterFailure, failureProblems, type FailOptions } from './failure.js';
import { heldJob, type HeldJob } from './held-job.js';
import { holderOf, holderProblems, ownerProblem, type JobHolder } from './holder.js';
import { pageOf } from './page.js';
import { snoozeProblems, type SnoozeOptions } from './snooze-options.js';
import { Taking, type TakingParts } from './taking.js';

export interface ConsumerParts extends RuleParts {
  readonly clock: RuleParts['clock'] & Pick<Clock, 'now'>;
  readonly store: ConsumerStore;
  readonly jobs: TakingParts['jobs'];
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  /** Told of each job whose assignment has ended here, once that has committed. */
  readonly ended: (job: ClaimedJob, outcome: Outcome, result: unknown, heldMs: number | null, owner: string) => void;
  /** See TakingParts. */
  readonly claimed: TakingParts['claimed'];
  readonly promoted: TakingParts['promoted'];
  readonly rescued: TakingParts['rescued'];
  /** What this process's worker, or others, should know at once. */
  readonly hints: { wake(queue: string): void; expectDue(queue: string, ms: number): void };
}

export interface AssignOptions {
  /** Whether a job may be taken from another owner. Default true. */
  reassign?: boolean;
}

/**
 * Takes jobs out for people, and for programs that are no handlers, and ends them by their hand. A job is held by a token
 * and, where it was claimed for one, by an owner; a job that nobody holds any more, or somebody else, is refused.
 *
 * @example
 * ```ts
 * const [task] = await consumer.claim('photo.review', { owner: 'ann', lease: '1h' });
 * await consumer.complete(task.id, { owner: 'ann', result: { verdict: 'fine' } });
 * ```
 */
export class QueueConsumer {
  readonly #parts: ConsumerParts;
  readonly #taking: Taking;
  readonly #workerId = randomUUID();

  /** @internal Nest injects it. */
  constructor(parts: ConsumerParts) {
    this.#parts = parts;
    const promoted = (jobs: readonly PromotedJob[]) => {
      parts.promoted(jobs);
      // They can be anywhere: of queues that workers of other processes work.
      for (const { queue } of jobs) parts.hints.wake(queue);
    };
    this.#taking = new Taking({ ...parts, promoted }, this.#workerId);
  }

  /**
   * Up to `limit` jobs, best first; none where the queue is paused. Their attempts are counted. Where the answer of the
   * database is lost it is found out whether they were taken; rejects with a StoreUnavailableError of outcome `unknown` where
   * that takes longer than a minute: see `assigned(owner)`; they lapse otherwise.
   */
  // oxlint-disable-next-line typescript/no-explicit-any
  async claim<Payload = any>(queue: string, options: ClaimOptions = {}): Promise<HeldJob<Payload>[]> {
    const resolved = resolveClaimOptions(queue, options);
    const taken = await this.#taking.take(queue, resolved);
    this.#parts.claimed(
      taken.map(({ job }) => job),
      resolved.owner,
    );
    return taken.map(heldJob);
  }

  /** The job is completed, with `result` in its history. */
  async complete(id: number, given: JobHolder & { result?: unknown }): Promise<void> {
    check('Cannot complete', [jobIdProblem(id), ...holderProblems(given, ['result'])]);
    const { optionsFor } = this.#parts;
    await this.#end(
      id,
      holderOf(given),
      ({ queue }) => {
        const { retention, maxPayloadBytes } = optionsFor(queue);
        const result = encodeResult(queue, given.result, maxPayloadBytes);
        return { outcome: { kind: 'complete', result }, keepMs: retention.completedMs };
      },
      given.result,
    );
  }

  /**
   * The attempt has failed with `error`: the job is tried again as its queue says, or as `retry` does (a duration: so much
   * later; false: not at all), and is dead after its last attempt. Answers where it stands now.
   */
  async fail(id: number, given: JobHolder & FailOptions): Promise<'scheduled' | 'waiting' | 'dead'> {
    check('Cannot fail', [jobIdProblem(id), ...holderProblems(given, ['error', 'retry']), ...failureProblems(given)]);
    const { optionsFor } = this.#parts;
    const { outcome } = await this.#end(id, holderOf(given), (job) => {
      const { retry, retention, deadLetter } = optionsFor(job.queue);
      const decided = afterFailure(job, given, retry, this.#parts);
      return after(decided, (outcome) => ({ outcome, keepMs: retention.deadMs, deadLetter }));
    });
    if (outcome.kind !== 'retry') return 'dead';
    return outcome.delayMs > 0 ? 'scheduled' : 'waiting';
  }

  /** Gives the job back, unharmed; the attempt is not counted. A job of a stage goes back there. */
  async release(id: number, holder: JobHolder): Promise<void> {
    check('Cannot release', [jobIdProblem(id), ...holderProblems(holder)]);
    await this.#sendBack(id, holderOf(holder), { kind: 'release' });
  }

  /**
   * Puts the job off: it is released, and can be claimed again so long from now, or at a date, at the earliest. The attempt is
   * not counted. With `keepOwner` (default false) the job stays `active` and its owner's, in the same attempt: `assigned(owner)` names
   * the time as `snoozedUntil`, and the lease, if it has an end, begins anew then. Until then the owner may still end the job,
   * and `assign` gives it to another owner at once. `keepOwner` takes the `owner`, not a token, and no lease that has lapsed.
   */
  async snooze(id: number, given: SnoozeOptions): Promise<void> {
    const { until, keepOwner = false } = optionsOf(given);
    check('Cannot snooze', [jobIdProblem(id), ...snoozeProblems(given)]);
    const outcome = snooze(until!, this.#parts.clock.now().getTime());
    if (!keepOwner) return this.#sendBack(id, holderOf(given), outcome);
    const { job, owner } = await this.#parts.store.snooze(id, holderOf(given), outcome);
    this.#parts.ended(job, outcome, undefined, null, owner);
  }

  /**
   * Sets the lease: it ends `lease` from now (1s to 100 years), sooner or later than it would have. Nothing is added to the time that
   * was left. Answers when it ends, by the database's clock. A lease that has lapsed does not come back.
   */
  async extend(id: number, given: JobHolder & { lease: Duration }): Promise<Date> {
    const { lease } = optionsOf(given);
    check('Cannot extend', [jobIdProblem(id), ...holderProblems(given, ['lease']), leaseProblem(lease)]);
    return new Date(await this.#parts.store.extend(id, holderOf(given), toMs(lease)!));
  }

  /**
   * Gives the job to the owner until it is released: one that waits or is scheduled, or that another owner holds, whose
   * token is void then. A job that a worker runs is refused, and with `{ reassign: false }` one that another owner holds, so
   * that of several who take the same job one gets it.
   */
  async assign(id: number, owner: string, options: AssignOptions = {}): Promise<HeldJob> {
    const { reassign = true } = isOptions(options) ? options : {};
    check('Cannot assign', [
      jobIdProblem(id),
      ownerProblem(owner),
      ...unknownKeys(options, ['reassign']),
      expected(typeof reassign === 'boolean', 'reassign to be true or false', reassign),
    ]);
    const to = { workerId: this.#workerId, owner, leaseMs: null };
    const { store, optionsFor, claimed } = this.#parts;
    const from = reassign ? 'whoever' : { owner };
    const assigned = await store.assign(id, to, from, (queue) => {
      const { retry, deadLetter } = optionsFor(queue);
      return { maxAttempts: retry.attempts, deadLetter };
    });
    const { malformed } = assigned.job;
    if (malformed) {
      await this.#taking.end(assigned);
      throw malformed;
    }
    if (assigned.isFresh) claimed([assigned.job], owner);
    return heldJob(assigned);
  }

  /** Takes the job from whoever holds it, unharmed; the attempt is not counted. A job that a worker runs is refused. */
  async unassign(id: number): Promise<void> {
    check('Cannot unassign', [jobIdProblem(id)]);
    await this.#sendBack(id, 'whoever', { kind: 'release' });
  }

  /**
   * Ends the assignment and leaves the job in a stage, where only `claim` with that stage, and `assign`, take it; null: in
   * none, for everybody. The attempt is not counted.
   */
  async move(id: number, given: JobHolder & { stage: string | null }): Promise<void> {
    const { stage } = optionsOf(given);
    check('Cannot move', [
      jobIdProblem(id),
      ...holderProblems(given, ['stage']),
      stage === null ? undefined : stageProblem(stage),
    ]);
    this.#told(await this.#parts.store.move(id, holderOf(given), stage!));
  }

  /** Jobs that anybody may claim, in the order in which they are claimed; with `order: 'newest'` the other way round. */
  async unassigned(queue: string, page: PageOptions = {}): Promise<AssignedJobPage> {
    check('Cannot list', [nameProblem('queue name', queue), ...pageProblems(page, 'unassigned')]);
    return pageOf('unassigned', page, (request) => this.#parts.store.unassigned(queue, request));
  }

  /** The owner's jobs, of one queue or of all, by id. */
  async assigned(owner: string, given: PageOptions & { queue?: string } = {}): Promise<AssignedJobPage> {
    const { queue, ...page } = isOptions(given) ? given : {};
    check('Cannot list', [
      ownerProblem(owner),
      queue === undefined ? undefined : nameProblem('queue name', queue),
      ...pageProblems(given, 'assigned', ['queue']),
    ]);
    const ofQueue = queue === undefined ? {} : { queue };
    return pageOf('assigned', page, (request) => this.#parts.store.assigned(owner, ofQueue, request));
  }

  /** Jobs of a stage, held or not (see `owner`), in the order in which they are claimed; with `order: 'newest'` the other way round. */
  async inStage(queue: string, stage: string, page: PageOptions = {}): Promise<AssignedJobPage> {
    check('Cannot list', [nameProblem('queue name', queue), stageProblem(stage), ...pageProblems(page, 'stage')]);
    return pageOf('stage', page, (request) => this.#parts.store.inStage(queue, stage, request));
  }

  async #sendBack(id: number, holder: Holder, outcome: Outcome): Promise<void> {
    await this.#end(id, holder, () => ({ outcome, keepMs: false }));
  }

  async #end(
    id: number,
    holder: Holder,
    decide: Parameters<ConsumerStore['end']>[2],
    result?: unknown,
  ): Promise<EndedAssignment> {
    const ended = await this.#parts.store.end(id, holder, decide);
    this.#told(ended, result);
    return ended;
  }

  #told({ job, outcome, heldMs, owner }: EndedAssignment, result?: unknown): void {
    this.#parts.ended(job, outcome, result, heldMs, owner);
    const { hints, optionsFor } = this.#parts;
    const { deadLetter } = optionsFor(job.queue);
    if (outcome.kind === 'dead' && deadLetter) hints.wake(deadLetter);
    if (waitsAgain(outcome)) hints.wake(job.queue);
    if (outcome.kind === 'retry' || outcome.kind === 'snooze') hints.expectDue(job.queue, outcome.delayMs);
  }
}

/** Of what the caller gives; holderProblems refuses anything that is no object. */
function optionsOf<Options extends object>(given: Options): Partial<Options> {
  return isOptions(given) ? given : {};
}

const check = InvalidOptionsError.throwIfAny.bind(InvalidOptionsError);
