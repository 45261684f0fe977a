import { randomUUID } from 'node:crypto';
import { InvalidOptionsError } from '../job/errors.js';
import { isOptions } from '../job/expectation.js';
import { nameProblem, jobIdProblem } from '../job/identifiers.js';
import { managerOf, optionProblems, problemOf, resolveOptions } from '../job/option-schema.js';
import { pageProblems, type PageOptions } from '../job/page-options.js';
import { ASSIGNMENT_LEASE } from '../job/lease.js';
import type { ClaimedJob } from '../job/job.js';
import type { Outcome } from '../job/outcome.js';
import { encodeResult } from '../job/job-content.js';
import { toDelay } from '../job/snooze.js';
import type { AssignedJobPage, EndedAssignment, ExpectedHolder } from '../store/features/people/consumer-store.js';
import type { CallerTransaction } from '../store/verbs/job-store.js';
import { toMs, type Duration } from '../common/units.js';
import { andThen } from '../common/maybe-promise.js';
import { toAssignedJob, type AssignedJob } from './assigned-job.js';
import { holderOf, holderProblems, ownerProblem, stageProblem, type ClaimHolder } from './claim-holder.js';
import { ASSIGN_OPTIONS, resolveClaimOptions, type AssignOptions, type ClaimOptions } from './claim-options.js';
import { ConsumerClaimer } from './consumer-claimer.js';
import type { ConsumerParts } from './consumer-parts.js';
import { outcomeAfterFailure, failOptionProblems, type FailOptions } from './fail-options.js';
import { readPage } from './read-page.js';
import { snoozeProblems, type SnoozeOptions } from './snooze-options.js';
import type { AssignmentTransaction } from './transaction-option.js';

/**
 * Claims jobs for people, and for programs without a handler, and ends them on their behalf. The holder of a job is its
 * owner, or the bearer of its token if it was claimed without an owner.
 *
 * Calls reject with
 * - InvalidOptionsError, before any SQL;
 * - JobNotAssignedError if the caller does not hold the job;
 * - JobFinishedError or JobNotFoundError;
 * - StoreUnavailableError if the database is unavailable.
 *
 * `complete`, `fail`, `release`, `snooze`, `move` and `unassign` take the `manager` of your open transaction. Then they also
 * reject with TransactionLostError if it has ended, and with the errors of TypeORM.
 *
 * @example
 * ```ts
 * const [task] = await consumer.claim('photo.review', { owner: 'ann', lease: '1h' });
 * await consumer.complete(task.id, { owner: 'ann', result: { verdict: 'fine' } });
 * ```
 */
export class QueueConsumer {
  readonly #parts: ConsumerParts;
  readonly #claimer: ConsumerClaimer;
  readonly #workerId = randomUUID();

  /** @internal Nest injects it. */
  constructor(parts: ConsumerParts) {
    this.#parts = parts;
    this.#claimer = new ConsumerClaimer(parts, this.#workerId);
  }

  /**
   * Claims up to `limit` jobs in the order of the queue, and counts their attempts. Resolves with an empty list if the
   * queue is paused. If an answer of the database is lost, the library finds out whether the claim committed. If that
   * takes longer than a minute, it rejects with StoreUnavailableError and `outcome: 'unknown'`. `assigned(owner)` then
   * lists the jobs, if they were claimed; otherwise their lease expires.
   */
  // oxlint-disable-next-line typescript/no-explicit-any
  async claim<Payload = any>(queue: string, options: ClaimOptions = {}): Promise<AssignedJob<Payload>[]> {
    const resolved = resolveClaimOptions(queue, options);
    const assignments = await this.#claimer.claim(queue, resolved);
    this.#parts.claimed(
      assignments.map(({ job }) => job),
      resolved.owner,
    );
    return assignments.map(toAssignedJob);
  }

  /**
   * Completes the job and stores `result` in its history. Rejects with PayloadInvalidError or PayloadTooLargeError if
   * the result cannot be stored. Then the job stays assigned.
   */
  async complete(id: number, given: ClaimHolder & AssignmentTransaction & { result?: unknown }): Promise<void> {
    check('Cannot complete', [jobIdProblem(id), ...holderProblems(given, ['result', 'manager'])]);
    const { store, optionsFor } = this.#parts;
    const { manager, result } = given;
    const decide = ({ queue }: ClaimedJob) => {
      const options = optionsFor(queue);
      return andThen(encodeResult(queue, result, options), (encoded) => ({
        outcome: { kind: 'complete' as const, result: encoded },
        retentionMs: options.retention.completedMs,
      }));
    };
    await this.#follow(store.end(id, holderOf(given), decide, manager), manager, { result });
  }

  /**
   * Fails the attempt with `error`. The job is retried by the options of its queue or, if `retry` is given, after that
   * duration; `retry: false` ends it as dead. After its last attempt it is dead. Resolves with the new state of the
   * job.
   */
  async fail(
    id: number,
    given: ClaimHolder & AssignmentTransaction & FailOptions,
  ): Promise<'scheduled' | 'waiting' | 'dead'> {
    check('Cannot fail', [
      jobIdProblem(id),
      ...holderProblems(given, ['error', 'retry', 'manager']),
      ...failOptionProblems(given),
    ]);
    const { store, optionsFor } = this.#parts;
    const { manager } = given;
    const decide = (job: ClaimedJob) => {
      const { retry, retention, deadLetter, codec } = optionsFor(job.queue);
      const decided = outcomeAfterFailure(job, given, retry, { ...this.#parts, codec });
      return andThen(decided, (outcome) => ({ outcome, retentionMs: retention.deadMs, deadLetter }));
    };
    const { outcome } = await this.#follow(store.end(id, holderOf(given), decide, manager), manager);
    if (outcome.kind !== 'retry') return 'dead';
    return outcome.delayMs > 0 ? 'scheduled' : 'waiting';
  }

  /** Releases the job without counting the attempt. A job that was claimed from a stage returns to that stage. */
  async release(id: number, given: ClaimHolder & AssignmentTransaction): Promise<void> {
    check('Cannot release', [jobIdProblem(id), ...holderProblems(given, ['manager'])]);
    await this.#releaseAs(id, holderOf(given), { kind: 'release' }, given.manager);
  }

  /**
   * Releases the job without counting the attempt. It can be claimed again after the duration or at the date in
   * `until`.
   *
   * With `keepOwner: true` (default false) the job stays active and assigned to its owner, in the same attempt.
   * `assigned(owner)` shows the time as `snoozedUntil`, and a lease that ends starts anew at that time. Until then the
   * owner can still end the job, and `assign` can give it to another owner. `keepOwner` requires `owner` instead of a
   * token, and a lease that has not expired.
   */
  async snooze(id: number, given: SnoozeOptions): Promise<void> {
    const { until, keepOwner = false, manager } = optionsOf(given);
    check('Cannot snooze', [jobIdProblem(id), ...snoozeProblems(given)]);
    const outcome = { kind: 'snooze', ...toDelay(until!, this.#parts.clock.now().getTime()) } as const;
    if (!keepOwner) return this.#releaseAs(id, holderOf(given), outcome, manager);
    const snoozing = this.#parts.store.snooze(id, holderOf(given), outcome, manager);
    await this.#follow(snoozing, manager, { keepsOwner: true });
  }

  /**
   * Sets the lease to end `lease` from now (1s to 100 years). The remaining time of the old lease is not added.
   * Resolves with the end of the lease by the database's clock. Rejects with JobNotAssignedError if the lease has
   * expired.
   */
  async extend(id: number, given: ClaimHolder & { lease: Duration }): Promise<Date> {
    const { lease } = optionsOf(given);
    check('Cannot extend', [
      jobIdProblem(id),
      ...holderProblems(given, ['lease']),
      problemOf('lease', ASSIGNMENT_LEASE, lease),
    ]);
    return new Date(await this.#parts.store.extend(id, holderOf(given), toMs(lease)!));
  }

  /**
   * Assigns a waiting, scheduled, blocked or assigned job to the owner until it is released. The token of another holder
   * becomes void. A blocked job starts before the jobs that it needs have ended. Once it is released, it waits for them no
   * more, and workers may run it. Rejects with JobNotAssignedError if a worker runs the job. With `{ reassign: false }` it
   * also rejects if another claim holder has the job, so that only one of several concurrent owners gets it.
   */
  async assign(id: number, owner: string, options: AssignOptions = {}): Promise<AssignedJob> {
    check('Cannot assign', [jobIdProblem(id), ownerProblem(owner), ...optionProblems(ASSIGN_OPTIONS, options)]);
    const { reassign } = resolveOptions(ASSIGN_OPTIONS, options);
    const to = { workerId: this.#workerId, owner, leaseMs: null };
    const { store, optionsFor, claimed } = this.#parts;
    const from = reassign ? 'anyone' : { owner };
    const assigned = await store.assign(id, to, from, (queue) => {
      const { retry, deadLetter } = optionsFor(queue);
      return { maxAttempts: retry.attempts, deadLetter };
    });
    const { malformed } = assigned.job;
    if (malformed) {
      await this.#claimer.endWithoutRun(assigned);
      throw malformed;
    }
    if (assigned.isFresh) claimed([assigned.job], owner);
    return toAssignedJob(assigned);
  }

  /** Releases the job on behalf of its holder. Rejects with JobNotAssignedError if a worker runs the job. */
  async unassign(id: number, options: AssignmentTransaction = {}): Promise<void> {
    check('Cannot unassign', [jobIdProblem(id)]);
    await this.#releaseAs(id, 'anyone', { kind: 'release' }, managerOf('Cannot unassign', options));
  }

  /**
   * Releases the job into a stage without counting the attempt. Only `claim` with that stage, and `assign`, take it
   * from there. With `stage: null` the job is in no stage, and any claim can take it.
   */
  async move(id: number, given: ClaimHolder & AssignmentTransaction & { stage: string | null }): Promise<void> {
    const { stage, manager } = optionsOf(given);
    check('Cannot move', [
      jobIdProblem(id),
      ...holderProblems(given, ['stage', 'manager']),
      stage === null ? undefined : stageProblem(stage),
    ]);
    await this.#follow(this.#parts.store.move(id, holderOf(given), stage!, manager), manager);
  }

  /** The waiting jobs of a queue that are in no stage, in the order of claims; reversed with `order: 'newest'`. */
  async unassigned(queue: string, page: PageOptions = {}): Promise<AssignedJobPage> {
    check('Cannot list', [nameProblem('queue name', queue), ...pageProblems(page, 'unassigned')]);
    return readPage('unassigned', page, (request) => this.#parts.store.listUnassigned(queue, request));
  }

  /** The jobs that are assigned to the owner, in one queue or in all, by id. */
  async assigned(owner: string, given: PageOptions & { queue?: string } = {}): Promise<AssignedJobPage> {
    const { queue, ...page } = isOptions(given) ? given : {};
    check('Cannot list', [
      ownerProblem(owner),
      queue === undefined ? undefined : nameProblem('queue name', queue),
      ...pageProblems(given, 'assigned', ['queue']),
    ]);
    return readPage('assigned', page, (request) => this.#parts.store.listAssigned(owner, queue ?? null, request));
  }

  /** The jobs of a stage, assigned (see `owner`) or not, in the order of claims; reversed with `order: 'newest'`. */
  async inStage(queue: string, stage: string, page: PageOptions = {}): Promise<AssignedJobPage> {
    check('Cannot list', [nameProblem('queue name', queue), stageProblem(stage), ...pageProblems(page, 'stage')]);
    return readPage('stage', page, (request) => this.#parts.store.listInStage(queue, stage, request));
  }

  async #releaseAs(
    id: number,
    holder: ExpectedHolder,
    outcome: Outcome,
    manager: CallerTransaction | undefined,
  ): Promise<void> {
    const ending = this.#parts.store.end(id, holder, () => ({ outcome, retentionMs: false }), manager);
    await this.#follow(ending, manager);
  }

  /** The effects of an ended assignment follow the commit of the caller's transaction, or that of the library. */
  async #follow(
    ending: Promise<EndedAssignment>,
    manager: CallerTransaction | undefined,
    { result, keepsOwner = false }: { readonly result?: unknown; readonly keepsOwner?: boolean } = {},
  ): Promise<EndedAssignment> {
    const { jobs, store, ended: emitOutcome } = this.#parts;
    const ended = await ending;
    const { job, outcome, heldMs, owner } = ended;
    const act = () => emitOutcome(job, outcome, result, keepsOwner ? null : heldMs, owner);
    if (manager === undefined) act();
    else jobs.afterCommit(manager, () => void store.onCommitted(job).then(act));
    return ended;
  }
}

/** No options for a value that is not an object. `holderProblems` reports it. */
function optionsOf<Options extends object>(given: Options): Partial<Options> {
  return isOptions(given) ? given : {};
}

const check = InvalidOptionsError.throwIfAny.bind(InvalidOptionsError);
