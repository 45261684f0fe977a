import type { GroupRules } from '../../lib/job/groups/group-options.js';
import { resolveQueueOptions } from '../../lib/job/queue-options.js';
import type { ChosenStrategy } from '../../lib/store/verbs/job-store.js';
import type { ClaimRequest } from '../../lib/store/rows/claim.js';
import { Claimer } from '../../lib/worker/queue/claimer.js';
import { LimitGate } from '../../lib/worker/queue/limit-gate.js';
import { PrefetchBuffer } from '../../lib/worker/queue/active-claim.js';
import { claimDemand, JobAverages, QueueSlots, Slots } from '../../lib/worker/queue/plan.js';
import type { WorkerContext } from '../../lib/worker/queue/worker-context.js';

describe('a claimer with demand for more than one claim', () => {
  it('starts a second claim when the first has locked its jobs, and not before', async () => {
    const { claim, requested, sendNext } = claimerOf();
    claim();
    const first = await sendNext();
    claim();
    const whileChoosing = requested();

    first.request.onLocked!(100);

    expect(whileChoosing).toBe(1);
    expect(requested()).toBe(2);
  });

  it('starts no second claim if the first has locked fewer jobs than it may, until jobs are announced', async () => {
    const { claimer, claim, requested, sendNext } = claimerOf();
    claim();
    const first = await sendNext();

    first.request.onLocked!(99);
    const afterShortClaim = requested();
    claimer.announce();
    claim();

    expect(afterShortClaim).toBe(1);
    expect(requested()).toBe(2);
  });

  it('goes on claiming if a repeated transaction locks more jobs than the first try', async () => {
    const { claimer, claim, answered, sendNext } = claimerOf();
    claim();
    const first = await sendNext();
    first.request.onLocked!(0);
    first.request.onChoosing!();

    first.request.onLocked!(100);
    first.answer(Array.from({ length: 100 }, () => ({})) as []);
    await answered;

    expect(claimer.isAnnounced).toBe(true);
  });

  it('waits again if the transaction of the first claim must be repeated', async () => {
    const { claim, requested, sendNext, sentCount } = claimerOf();
    claim();
    const first = await sendNext();
    first.request.onLocked!(100);
    first.request.onChoosing!();

    await sendNext();
    claim();

    expect(sentCount()).toBe(1);
    expect(requested()).toBe(2);
  });

  it('reports that the groups have more jobs if the store finds out after the answer', async () => {
    const { claimer, claim, answered, answerCount, sendNext } = claimerOf(resolveQueueOptions({ groups: {} }).groups);
    claim();
    const { request, answer } = await sendNext();

    request.onMoreIn!(20);
    const countWhileClaiming = answerCount();
    answer([]);
    await answered;
    claimer.takeReady();
    const countAfterAnswer = answerCount();
    request.onMoreIn!(10);

    expect([countWhileClaiming, countAfterAnswer, answerCount()]).toEqual([0, 1, 2]);
  });

  it('starts the next claim after the answer if the strategy does not report its locks', async () => {
    const { claimer, claim, answered, requested, sendNext } = claimerOf();
    claim();
    const first = await sendNext();

    first.answer([]);
    await answered;
    claimer.takeReady();
    claimer.announce();
    claim();

    expect(requested()).toBe(2);
  });
});

interface SentClaim {
  readonly request: ClaimRequest;
  readonly answer: (jobs: []) => void;
}

function claimerOf(groups: GroupRules | null = null) {
  const turns: (() => void)[] = [];
  const sent: SentClaim[] = [];
  const worker = {
    workerId: 'w',
    completer: {
      endOfTurn: () => new Promise<void>((resolve) => turns.push(resolve)),
      completeAndClaim: (request: ClaimRequest) => new Promise((answer) => sent.push({ request, answer })),
    },
    ownClaims: { expect: () => undefined, forget: () => undefined, add: () => undefined },
    clock: { monotonic: () => 0 },
    instrumentations: {},
  } as unknown as WorkerContext;
  const strategy: ChosenStrategy = { name: 'skip-locked', mayShareTransaction: true };
  const slots = new QueueSlots(new Slots(20), 20);
  const options = resolveQueueOptions({ prefetch: 1_000 });
  const state = {
    ...{
      options,
      strategy,
      slots,
      gate: groups ? new LimitGate(groups, worker.clock, true) : undefined,
      maxBatchSize: 1,
      isOpen: true,
      isResting: false,
      averages: new JobAverages(),
    },
    buffer: new PrefetchBuffer('fifo'),
    runs: { isIdle: true, isPoisonRunning: false, batchSizeOf: () => 1 },
    get claims() {
      return claimer;
    },
  };
  let answer = () => {};
  let answerCount = 0;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const claimer: Claimer = new Claimer(worker, 'q', state, () => {
    answerCount++;
    answer();
  });
  /** Claims if jobs are wanted. */
  const claim = () => {
    const demand = claimDemand(state);
    if (demand) claimer.claim(demand);
  };
  claimer.announce();
  /** Ends the turn of the event loop, which sends the requested claims. Resolves with the last sent claim. */
  const sendNext = async () => {
    turns.at(-1)!();
    await new Promise((resolve) => setImmediate(resolve));
    return sent.at(-1)!;
  };
  return {
    ...{ claimer, claim, answered, sendNext },
    ...{ requested: () => turns.length, sentCount: () => sent.length, answerCount: () => answerCount },
  };
}
