import { pageSize } from '../../common/lists.js';
import { isTurnLong, nextTurn } from '../../common/turn.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected } from '../../job/expectation.js';
import { buildJob } from '../../job/job-content.js';
import type { FlowChild } from '../../job/flows/flow-record.js';
import { resolveFlowOptions, type FanOutOptions } from '../../job/flows/flow-options.js';
import { checkFlowSize, type OnFailure } from '../../job/flows/flow.js';
import type { ClaimedJob, NewJob } from '../../job/job.js';
import type { StoredFanOut } from '../../store/features/flows/flow-store.js';
import type { AttemptParts } from './attempt-parts.js';
import type { JobSteps } from './job-steps.js';

const PAGE_SIZE = 500;

/** The jobs that one job waits for, or has waited for. */
export class JobChildren {
  #fanOuts = 0;
  #flow: number | undefined;
  #storing: Promise<unknown> | undefined;

  constructor(
    private readonly job: Pick<ClaimedJob, 'id' | 'overrides'>,
    private readonly claimId: number,
    private readonly steps: () => Pick<JobSteps, 'fanOut'>,
    private readonly parts: AttemptParts,
  ) {}

  /** The flow that the job has joined in this run; undefined: none. */
  get flow(): number | undefined {
    return this.#flow;
  }

  /** Settles when it is known whether the job has joined a flow; undefined if no call asks the database. */
  get storing(): Promise<unknown> | undefined {
    return this.#storing;
  }

  /** The children of later fan-outs are left out, so that the call answers the same in every run. */
  read(): AsyncGenerator<FlowChild> {
    return this.#readPages(this.#fanOuts);
  }

  async *#readPages(fanOuts: number): AsyncGenerator<FlowChild> {
    const limit = pageSize(PAGE_SIZE);
    for (let after = 0, isEnd = false; !isEnd;) {
      const page = await this.parts.stores.flows.children(this.job.id, after, limit, fanOuts);
      yield* page;
      isEnd = page.length < limit;
      after = page.at(-1)?.id ?? after;
    }
  }

  /** Enqueues the children, unless an earlier run has done so. Returns whether the job must wait for them. */
  async fanOut(queue: string, payloads: readonly unknown[], given: FanOutOptions): Promise<boolean> {
    InvalidOptionsError.throwIfAny('Cannot fan out', [
      expected(Array.isArray(payloads), 'a list of payloads', payloads),
    ]);
    checkFlowSize(payloads.length, payloads.length);
    const { id: jobId, overrides } = this.job;
    const inherited = overrides?.subject === undefined ? given : { subject: overrides.subject, ...given };
    const { onFailure, options } = resolveFlowOptions(`Cannot fan out into "${queue}"`, inherited);
    const number = ++this.#fanOuts;
    const step = `sql-queue.fan-out.${number}`;
    let hasStored = false;
    const prepare = async () => {
      const jobs: NewJob[] = [];
      // A copy: the handler can change its list while this loop waits.
      for (const payload of [...payloads]) {
        const job = buildJob(queue, payload, options, this.parts.optionsFor);
        jobs.push(job instanceof Promise ? await job : job);
        if (isTurnLong()) await nextTurn();
      }
      return jobs;
    };
    await this.steps().fanOut(step, prepare, async (jobs) => {
      const stored = await this.#join(() => this.#store(number, step, jobs, onFailure));
      if (stored && stored.ids.length > 0) {
        hasStored = true;
        const enqueued = jobs.map(({ name }, index) => ({ id: stored.ids[index]!, queue, name }));
        this.parts.events.emitChanges('enqueued', enqueued);
        this.parts.announce(queue, jobs.length);
      }
      return stored && true;
    });
    return hasStored || this.parts.stores.flows.mustWait(jobId, step);
  }

  async #join(store: () => Promise<StoredFanOut | undefined>): Promise<StoredFanOut | undefined> {
    const storing = store();
    this.#storing = storing.then(
      (stored) => (this.#flow = stored?.flow ?? this.#flow),
      () => undefined,
    );
    await this.#storing;
    this.#storing = undefined;
    return storing;
  }

  /** Undefined if the claim has lost the job. */
  #store(
    number: number,
    step: string,
    jobs: readonly NewJob[],
    onFailure: OnFailure,
  ): Promise<StoredFanOut | undefined> {
    const { flows } = this.parts.stores;
    const instrumentations = this.parts.instrumentations?.ofProducers;
    const owner = { jobId: this.job.id, claimId: this.claimId };
    if (!instrumentations || jobs.length === 0) return flows.fanOut(owner, step, jobs, onFailure, number);
    return instrumentations.enqueue(
      'fanOut',
      jobs,
      (sent) => flows.fanOut(owner, step, sent, onFailure, number),
      (stored) => (stored?.ids ?? []).map((id) => ({ id, outcome: 'created' })),
    );
  }
}
