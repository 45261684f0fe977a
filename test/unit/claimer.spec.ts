import { resolveQueueOptions } from '../../lib/job/queue-options.js';
import type { ClaimRequest } from '../../lib/store/rows/claim.js';
import { Claimer } from '../../lib/worker/queue/claimer.js';
import { LimitGate } from '../../lib/worker/queue/limit-gate.js';
import { QueueSlots, Slots } from '../../lib/worker/queue/queue-slots.js';
import type { WorkerContext } from '../../lib/worker/queue/worker-context.js';

describe('a claimer with demand for more than one claim', () => {
  it('starts a second claim when the first has locked its jobs, and not before', async () => {
    const { claimer, requested, sendNext } = claimerOf();
    void claimer.claim();
    const first = await sendNext();
    void claimer.claim();
    const whileChoosing = requested();

    first.request.onLocked!(10);

    expect(whileChoosing).toBe(1);
    expect(requested()).toBe(2);
  });

  it('starts no second claim if the first has locked fewer jobs than it may, until jobs are announced', async () => {
    const { claimer, requested, sendNext } = claimerOf();
    void claimer.claim();
    const first = await sendNext();

    first.request.onLocked!(9);
    const afterShortClaim = requested();
    claimer.announce();
    void claimer.claim();

    expect(afterShortClaim).toBe(1);
    expect(requested()).toBe(2);
  });

  it('goes on claiming if a repeated transaction locks more jobs than the first try', async () => {
    const { claimer, sendNext } = claimerOf();
    const answered = claimer.claim();
    const first = await sendNext();
    first.request.onLocked!(0);
    first.request.onChoosing!();

    first.request.onLocked!(10);
    first.answer(Array.from({ length: 10 }, () => ({})) as []);
    await answered;

    expect(claimer.hasPendingNotification).toBe(true);
  });

  it('waits again if the transaction of the first claim must be repeated', async () => {
    const { claimer, requested, sendNext, sentCount } = claimerOf();
    void claimer.claim();
    const first = await sendNext();
    first.request.onLocked!(10);
    first.request.onChoosing!();

    await sendNext();
    void claimer.claim();

    expect(sentCount()).toBe(1);
    expect(requested()).toBe(2);
  });

  it('starts the next claim after the answer if the strategy does not report its locks', async () => {
    const { claimer, requested, sendNext } = claimerOf();
    const answered = claimer.claim();
    const first = await sendNext();

    first.answer([]);
    await answered;
    claimer.takeReady();
    claimer.announce();
    void claimer.claim();

    expect(requested()).toBe(2);
  });
});

interface SentClaim {
  readonly request: ClaimRequest;
  readonly answer: (jobs: []) => void;
}

function claimerOf() {
  const turns: (() => void)[] = [];
  const sent: SentClaim[] = [];
  const parts = {
    workerId: 'w',
    lockId: () => null,
    strategies: { of: () => ({ name: 'skip-locked', mayShareTransaction: true }) },
    completer: {
      endOfTurn: () => new Promise<void>((resolve) => turns.push(resolve)),
      completeAndClaim: (request: ClaimRequest) => new Promise((answer) => sent.push({ request, answer })),
    },
    leases: { expect: () => undefined, forget: () => undefined, add: () => undefined },
    clock: { monotonic: () => 0 },
    instrumentations: {},
  } as unknown as WorkerContext;
  const demand = () => ({ limit: 10, startLimit: 10, slots: 1 });
  const slots = new QueueSlots(new Slots(20), 20);
  const limitGate = new LimitGate(parts.clock, () => undefined);
  const claimer: Claimer = new Claimer(
    parts,
    'q',
    resolveQueueOptions(),
    slots,
    limitGate,
    { rules: undefined, wakeIn: () => undefined },
    demand,
    () => void claimer.claim(),
  );
  claimer.announce();
  /** Ends the turn of the event loop, which sends the requested claims. Resolves with the last sent claim. */
  const sendNext = async () => {
    turns.at(-1)!();
    await new Promise((resolve) => setImmediate(resolve));
    return sent.at(-1)!;
  };
  return { claimer, requested: () => turns.length, sentCount: () => sent.length, sendNext };
}
