import type { EntityManager } from 'typeorm';
import { StoreUnavailableError, UnnameableIdError } from '../../job/errors.js';
import type { ClaimStrategy } from '../../job/claim-strategy.js';
import type { ClaimedJob, NewJob } from '../../job/job.js';
import type { ClaimBounds, ClaimStart } from '../claims/claim-bounds.js';
import { chooseStrategies, type Unfit } from '../claims/choose-strategy.js';
import type { CommitListener } from '../commit-listener.js';
import * as port from '../job-store.js';
import type { KeyedAnswer, PlacedJob } from '../key-store.js';
import { completeWith } from './complete-with.js';
import type { ClaimWay, Dialect } from './dialect.js';
import { insertAll, insertAndDecide, insertJobs, jobChunks } from './enqueue.js';
import type { ClaimedRow } from './claimed-row.js';
import { goesBack } from './fence.js';
import { handOff } from './hand-off.js';
import { idsFrom } from './inserted-ids.js';
import type { KeyedJobs } from './keyed-jobs.js';
import { extend, retire } from './lease.js';
import { hasUnusedKeys, pruneKeys } from './prune-keys.js';
import { LAPSED_AT_A_TIME, lapsedClaims, rescueClaim } from './rescue.js';
import { rescueEach } from './rescue-each.js';
import { settleAtOnce, settleSurvivors, ShortCountError, type Refused } from './settle.js';
import { lockedOut } from './survivors.js';
import type { RecordingDatabase } from './recording-database.js';
import type { Work } from './statement.js';
import { countWaiting, survey, upcoming } from './survey.js';
import { StageSweep } from './sweep-stages.js';
import { StuckJobSweep } from './sweep-stuck-jobs.js';
import { buryUnnameable } from './unnameable-jobs.js';
import { prune, promote } from './upkeep.js';
import { withDecisions } from './undecided.js';
import { cancelRequests } from './wishes.js';
import { enter, leave, seen, unknownQueues, work } from './workers.js';

// All outcomes of a process wait for those before them: then it is looked which of them it is that has to wait.
const LOCK_WAITS = 3;
// As many batches of such jobs may be in the way of one claim.
const NAMING_TRIES = 10;

/** The port, over any database: which verb is which work, and whether it may be done twice. */
export class SqlJobStore implements port.JobStore {
  readonly #stages: StageSweep;
  readonly #stuck: StuckJobSweep;
  /** Looks behind the bounds that are under way. */
  readonly #looks = new Set<Promise<void>>();

  /**
   * Where the last look for lapsed claims ended. Claims of which jobs are locked stay, and are the oldest of all: whoever began
   * at the head each time would never see what stands behind a hundred of them.
   */
  #lapsedAfter = 0;

  /**
   * @param blocking for enqueues, which may wait for a lock of the application: heartbeats, completions and claims must not
   * queue behind them for a connection
   * @param unfit finds out which strategies do not work on this very server
   * @param archive moves finished jobs past their retention to the archives of their queues, at most so many; without, they are
   * deleted
   */
  constructor(
    private readonly database: RecordingDatabase,
    private readonly blocking: RecordingDatabase,
    private readonly keyed: KeyedJobs,
    private readonly dialect: Dialect,
    private readonly commits: CommitListener,
    private readonly bounds: ClaimBounds,
    private readonly unfit: (queue: string) => Promise<Unfit>,
    private readonly archive?: (limit: number) => Work<number>,
  ) {
    this.#stages = new StageSweep(database);
    this.#stuck = new StuckJobSweep(database);
  }

  async enqueue(jobs: readonly NewJob[], transaction?: port.CallerTransaction): Promise<number[]> {
    if (jobs.length === 0) return [];
    const chunks = jobChunks(jobs);
    if (transaction) return this.database.within(transaction, () => insertAll(chunks));
    if (jobs.some(({ queue }) => this.database.isRecorded(queue)))
      return this.blocking.decideOnce(() => insertAndDecide(chunks));
    const answers = await this.blocking.once(chunks.map(insertJobs));
    return chunks.flatMap(({ length }, index) => idsFrom(answers[index]!, length));
  }

  async enqueueKeyed(calls: readonly (readonly NewJob[])[]): Promise<readonly KeyedAnswer[]> {
    const answers = await this.keyed.enqueue(calls);
    // What was replaced may stand in front of all others.
    if (answers.some(hasReplaced)) this.bounds.forget();
    return answers;
  }

  async enqueueKeyedWithin(
    jobs: readonly NewJob[],
    transaction: port.CallerTransaction,
  ): Promise<readonly PlacedJob[]> {
    this.database.requireOpen(transaction);
    const placed = await this.keyed.enqueueWithin(jobs, transaction);
    if (hasReplaced(placed)) this.commits.after(transaction, () => this.bounds.forget());
    return placed;
  }

  afterCommit(transaction: port.CallerTransaction, act: () => void): void {
    this.commits.after(transaction, act);
  }

  countWaiting(queue: string, most: number, transaction?: port.CallerTransaction): Promise<number> {
    return this.database.latest(() => countWaiting(queue, most), transaction);
  }

  survey(queues: readonly string[]): Promise<port.Survey> {
    return this.database.repeatable(() => survey(queues));
  }

  upcoming(): Promise<port.Upcoming> {
    return this.database.repeatable(upcoming);
  }

  async claim(request: port.ClaimRequest): Promise<ClaimedJob[]> {
    const mark = this.#way(request).mark?.(request);
    const marked = mark && (await this.#nameable(() => this.database.repeatable(mark)));
    if (marked?.length === 0) return [];
    const once = (claim: () => Work<ClaimedJob[]>) =>
      request.once ? this.database.transactOnce(claim, (taken) => taken.length > 0) : this.database.transaction(claim);
    return this.#claiming(request, once, itself, marked);
  }

  extend(claimIds: readonly number[]): Promise<port.HeldLease[]> {
    return this.database.repeatable(() => extend(claimIds));
  }

  cancelRequests(claimIds: readonly number[]): Promise<ReadonlyMap<number, readonly number[]>> {
    return this.database.repeatable(() => cancelRequests(claimIds));
  }

  async settle(flush: port.Flush): Promise<ReadonlySet<port.Settlement>> {
    return (await this.#settleAnd(flush, nothingMore)).lost;
  }

  // The scan for the next jobs comes last: it waits for nobody, and locks nothing that another flush could wait for.
  async settleAndClaim(flush: port.Flush, request: port.ClaimRequest) {
    if (this.#way(request).mark) throw new TypeError(`Claims by ${request.strategy} share no transaction.`);
    // What this flush gives back may stand in front of all others.
    if (hasReturns(flush)) this.bounds.forget();
    const { lost, more: jobs } = await this.#claiming(
      request,
      (claim) => this.#settleAnd(flush, claim),
      ({ more }) => more,
    );
    return { lost, jobs };
  }

  /** @param transact does the claim in a transaction, and again from the beginning where that has to be repeated */
  async #claiming<T>(
    request: port.ClaimRequest,
    transact: (claim: () => Work<ClaimedJob[]>) => Promise<T>,
    jobsOf: (done: T) => readonly ClaimedJob[],
    marked: readonly ClaimedRow[] = [],
  ): Promise<T> {
    const way = this.#way(request);
    let start: ClaimStart | undefined;
    const over = () => start && this.bounds.over(start);
    try {
      const done = await this.#nameable(() =>
        transact(() => {
          over();
          start = this.bounds.of(request.queue);
          if (!way.mark) request.onChoosing?.();
          return way.claim(request, start, marked);
        }),
      );
      this.#claimed(request, start!, jobsOf(done));
      return done;
    } finally {
      over();
    }
  }

  /** Does it again once jobs that cannot be named are out of its way. */
  async #nameable<T>(act: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof UnnameableIdError) || tries === NAMING_TRIES) throw error;
        await this.database.transaction(buryUnnameable, 1);
      }
    }
  }

  #way({ strategy }: port.ClaimRequest): ClaimWay {
    const way = this.dialect.claims[strategy];
    if (!way) throw new TypeError(`This database has no strategy ${strategy}.`);
    return way;
  }

  #claimed(request: port.ClaimRequest, start: ClaimStart, jobs: readonly ClaimedJob[]): void {
    const { queue, limit } = request;
    const { waitsBehind } = this.#way(request);
    if (!waitsBehind) return;
    this.bounds.note(start, jobs, jobs.length < limit);
    const due = this.bounds.due(queue);
    if (!due) return;
    // Beside the claims, which do not wait for it. A look that fails is made up for at the head.
    const looking = this.database
      .repeatable(() => waitsBehind(queue, due.bounds))
      .then(due.done, () => due.done(true))
      .finally(() => this.#looks.delete(looking));
    this.#looks.add(looking);
  }

  async #settleAnd<T>(flush: port.Flush, next: () => Work<T>): Promise<Settled<T>> {
    if (flush.wereLocked) await this.#refuseLocked(flush);
    const settled = await this.#transactSettling(flush, next).catch(async (error: unknown) => {
      if (error instanceof StoreUnavailableError && error.locked) await this.#refuseLocked(flush);
      throw error;
    });
    if (hasReturns(flush)) this.bounds.forget();
    if (settled.cancelled.size > 0) flush.onCancelled?.(settled.cancelled);
    if (settled.gone.size > 0) flush.onGone?.(settled.gone);
    return settled;
  }

  async #refuseLocked({ settlements }: port.Flush): Promise<void> {
    const locked = await this.database.repeatable(() => lockedOut(settlements));
    if (locked.size > 0) throw new port.JobsLockedError(locked);
  }

  async #transactSettling<T>(flush: port.Flush, next: () => Work<T>): Promise<Settled<T>> {
    try {
      return await this.database.transaction(() => thenMore(settleAtOnce(flush), next), LOCK_WAITS);
    } catch (error) {
      if (!(error instanceof ShortCountError)) throw error;
      return this.database.transaction(() => thenMore(settleSurvivors(flush), next), LOCK_WAITS);
    }
  }

  completeWith<T>(work: (manager: EntityManager) => Promise<{ value: T; settlement: port.Settlement }>): Promise<T> {
    return completeWith(this.database, work);
  }

  async handOff(request: port.HandOff): Promise<boolean> {
    for (let again = false; ; again = true) {
      try {
        await this.database.transaction(() => handOff(request, again));
        return true;
      } catch (error) {
        if (error instanceof ShortCountError) return false;
        const isUnheard = error instanceof StoreUnavailableError && error.outcome === 'unknown';
        if (again || !isUnheard) throw error;
      }
    }
  }

  retire(claimIds: readonly number[]): Promise<void> {
    return this.database.repeatable(() => retire(claimIds));
  }

  async promote(limit: number, onPromoted?: (jobs: readonly port.PromotedJob[]) => void): Promise<number> {
    const promoted = await this.#nameable(() => this.database.transaction(() => promote(limit, this.dialect)));
    if (promoted.length > 0) this.bounds.forget();
    onPromoted?.(promoted);
    return promoted.length;
  }

  async rescue(rules: port.RescueRules): Promise<port.Rescued[]> {
    const lapsed = await this.database.repeatable(() => lapsedClaims(this.#lapsedAfter));
    this.#lapsedAfter = lapsed.length < LAPSED_AT_A_TIME ? 0 : lapsed.at(-1)!;
    const rescued = await rescueEach(lapsed, (id) =>
      withDecisions(rules.decide, (decide) =>
        this.#nameable(() => this.database.transaction(() => rescueClaim(id, { ...rules, decide }))),
      ),
    );
    if (rescued.length > 0) this.bounds.forget();
    return rescued;
  }

  prune(limit: number): Promise<number> {
    const { archive } = this;
    if (archive) return this.database.transaction(() => archive(limit));
    return this.database.repeatable(() => prune(limit));
  }

  async sweep(limit: number): Promise<number> {
    return Math.max(await this.#stages.sweep(limit), await this.#stuck.sweep(limit));
  }

  // What is rarely there is looked for first: most processes have nothing to open a transaction for.
  async pruneKeys(limit: number): Promise<number> {
    if (!(await this.database.repeatable(hasUnusedKeys))) return 0;
    return this.database.transaction(() => pruneKeys(limit));
  }

  async chooseStrategies(wishes: ReadonlyMap<string, ClaimStrategy | 'auto'>): Promise<port.ChosenStrategies> {
    const queues = [...wishes.keys()];
    if (queues.length === 0) return { of: new Map() };
    await this.#addQueues(queues);
    return chooseStrategies(this.dialect, wishes, await this.unfit(queues[0]!));
  }

  async enter(worker: port.WorkerEntry): Promise<void> {
    await this.#addQueues(worker.queues);
    await this.database.transaction(() => enter(worker));
  }

  async #addQueues(queues: readonly string[]): Promise<void> {
    // Read first, so that only a queue's very first worker writes here.
    for (const queue of await this.database.repeatable(() => unknownQueues(queues))) {
      await this.database.repeatable(() => this.dialect.addQueue(queue));
    }
  }

  seen(workerId: string): Promise<void> {
    return this.database.repeatable(() => seen(workerId));
  }

  work(workerId: string, queues: readonly string[]): Promise<void> {
    return this.database.repeatable(() => work(workerId, queues));
  }

  leave(workerId: string): Promise<void> {
    return this.database.repeatable(() => leave(workerId));
  }

  async close(): Promise<void> {
    this.commits.stop();
    await Promise.all([this.database.close(), this.blocking.close()]);
    await Promise.all(this.#looks);
  }
}

interface Settled<T> extends Refused {
  readonly more: T;
}

function* thenMore<T>(settling: Work<Refused>, next: () => Work<T>): Work<Settled<T>> {
  const refused = yield* settling;
  return { ...refused, more: yield* next() };
}

function itself<T>(one: T): T {
  return one;
}

// eslint-disable-next-line require-yield
function* nothingMore(): Work<void> {}

function hasReplaced(answer: KeyedAnswer): boolean {
  return Array.isArray(answer) && answer.some(({ outcome }) => outcome === 'replaced');
}

/** Whether jobs may stand at the head of their queues again. */
function hasReturns({ settlements }: port.Flush): boolean {
  return settlements.some(goesBack);
}
