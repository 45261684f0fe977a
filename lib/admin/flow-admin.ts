import { groupBy } from '../common/lists.js';
import { InvalidOptionsError, JobNotFoundError } from '../job/errors.js';
import { requireOptions } from '../job/expectation.js';
import {
  FLOW_STATES,
  type FlowFilter,
  type FlowRecord,
  type FlowSummary,
  type JobRelatives,
} from '../job/flows/flow-record.js';
import { checkJobId, isName, NAME_EXPECTED } from '../job/identifiers.js';
import { encodeValue } from '../job/job-content.js';
import {
  checkAndResolve,
  flag,
  kind,
  oneOf,
  option,
  optionProblems,
  whole,
  type SchemaOf,
} from '../job/option-schema.js';
import { cursorOf, pageOf, resolvePage, type Page, type PageOptions } from '../job/page-options.js';
import { SIGNAL_KEY, signalHash, signalProblems } from '../job/signal.js';
import type { SignalRecord, StepRecord, WaitFilter, WaitRecord } from '../store/features/steps/step-store.js';
import type { AdminParts } from './admin-parts.js';
import { cancelFlow, checkFlowId, retryFlow, type FlowSelection } from './flow-actions.js';
import { partsFor, type ChangeOptions } from './in-transaction.js';
import { JobAdmin } from './job-admin.js';

/** A page of the steps of a job, by name. */
export interface StepPage extends Page {
  steps: StepRecord[];
}

/** Which signals to list. */
export interface SignalFilter {
  /** Only signals that no job has received and that no job waits for. Default false. */
  unmatched?: boolean;
}

/** A page of signals, by the times at which they were sent. */
export interface SignalPage extends Page {
  /** With `unmatched` a page examines at most 2,000 signals, so it may have fewer, or none, although there is a `next`. */
  signals: SignalRecord[];
}

/** A page of waits for signals. Those for the same signal stand together. */
export interface WaitPage extends Page {
  /** A page examines at most 2,000 waits, so it may have fewer, or none, although there is a `next`. */
  waits: WaitRecord[];
}

/** A page of flows, by the times at which they were stored. */
export interface FlowPage extends Page {
  /**
   * A page reads at most 500 flows, and 1,000 dependencies of each, so it may have fewer, or none, although there is a
   * `next`.
   */
  flows: FlowSummary[];
}

/** Which part of the relatives of a job to read. */
export interface RelativesOptions {
  /** The largest number of parents and of children, 1 to 100. Default 20. */
  limit?: number;
}

const NAME = kind(NAME_EXPECTED, isName);
const SIGNAL_FILTER = { unmatched: option(flag, false) } satisfies SchemaOf<SignalFilter>;
const WAIT_FILTER = { name: option(NAME), key: option(SIGNAL_KEY), queue: option(NAME) } satisfies SchemaOf<WaitFilter>;
const FLOW_FILTER = {
  state: option(oneOf(...FLOW_STATES)),
  queue: option(kind(`a queue: ${NAME_EXPECTED}`, isName)),
} satisfies SchemaOf<FlowFilter>;
const RELATIVES_OPTIONS = { limit: option(whole(1, 100), 20) } satisfies SchemaOf<RelativesOptions>;

/** The part of QueueAdmin that concerns flows and signals. */
export abstract class FlowAdmin extends JobAdmin {
  readonly #parts: AdminParts;

  constructor(parts: AdminParts) {
    super(parts);
    this.#parts = parts;
  }

  /**
   * The steps that the runs of a job have begun, by name: their states, values, ends of sleeps and waits, and the keys of
   * signals. A job has steps as long as it exists. Rejects with JobNotFoundError. Who may not see payloads should not see
   * the values.
   *
   * @example const { steps } = await admin.steps(id);
   */
  async steps(id: number, page: PageOptions = {}): Promise<StepPage> {
    checkJobId(id);
    const request = resolvePage('Cannot list steps', page, 'steps');
    const { store, steps } = this.#parts;
    const { limit, order } = request;
    const found = await steps.list(id, { ...request, limit: limit + 1 });
    // Most jobs have no steps, so an empty list says nothing about the job.
    if (found.length === 0 && request.after === undefined && !(await store.get(id))) throw new JobNotFoundError(id);
    const listed = found.slice(0, limit);
    return { steps: listed, ...(found.length > limit && { next: cursorOf([listed.at(-1)!.name], 'steps', order) }) };
  }

  /**
   * The signals of the last 30 days, without their data, by the times at which they were sent. `unmatched`: those that no
   * job has received and that no job waits for, for example because of another key.
   *
   * @example const { signals } = await admin.signals({ unmatched: true }, { order: 'newest' });
   */
  async signals(filter: SignalFilter = {}, page: PageOptions = {}): Promise<SignalPage> {
    const where = 'Cannot list signals';
    const { unmatched } = checkAndResolve(where, SIGNAL_FILTER, filter);
    const request = resolvePage(where, page, 'signals');
    return pageOf(await this.#parts.steps.signals(request, unmatched), 'signals', request);
  }

  /**
   * The waits of jobs for signals: `job.waitFor` whose signal has not been sent yet. Those for one signal stand together. A
   * filter of name and key reads their part of an index; takes no locks.
   *
   * @example const { waits } = await admin.waits({ name: 'approval', key: 'order:7' });
   */
  async waits(filter: WaitFilter = {}, page: Omit<PageOptions, 'order'> = {}): Promise<WaitPage> {
    const where = 'Cannot list waits';
    InvalidOptionsError.throwIfAny(where, optionProblems(WAIT_FILTER, requireOptions(where, filter)));
    const request = resolvePage(where, page, 'waits');
    return pageOf(await this.#parts.steps.waits(request, filter), 'waits', request);
  }

  /**
   * Sends a signal as `QueueProducer.signal` does, with an entry in the audit, which has its name and key but not its data.
   * Resolves with the number of jobs that it woke; null in your transaction, or if that cannot be known yet.
   *
   * @example await admin.as(user.email).signal('approval', 'order:7', { by: user.name });
   */
  async signal(name: string, key: string, data?: unknown, options: ChangeOptions = {}): Promise<number | null> {
    const where = 'Cannot send a signal';
    InvalidOptionsError.throwIfAny(where, signalProblems(name, key));
    const { optionsFor, notifier } = this.#parts;
    const { audit, steps, jobs, transaction } = partsFor(this.#parts, where, options);
    const hash = signalHash(name, key);
    const encoded = data === undefined ? null : await encodeValue(name, 'signal', data, optionsFor(name));
    await audit.change({ verb: 'signal', which: { name, key } }, (change) =>
      steps.signal({ name, key, hash, data: encoded }, change),
    );
    // The signal is stored by then. If this fails, a worker wakes the jobs within a minute.
    const wake = async () => {
      const woken = await steps.wakeWaiting(hash).catch(() => null);
      for (const queue of groupBy(woken ?? [], (job) => job.queue).keys()) notifier.wake(queue);
      return woken && woken.length;
    };
    if (!transaction) return wake();
    jobs.afterCommit(transaction, () => void wake());
    return null;
  }

  /**
   * The flows with the numbers of their jobs by state, the newest first. A flow with a dead job that others wait for is
   * `stuck`. Takes no locks, and its cost does not depend on the number of jobs.
   *
   * @example const { flows, next } = await admin.flows({ state: 'stuck' }, { limit: 20 });
   */
  async flows(filter: FlowFilter = {}, page: PageOptions = {}): Promise<FlowPage> {
    const where = 'Cannot list flows';
    InvalidOptionsError.throwIfAny(where, optionProblems(FLOW_FILTER, requireOptions(where, filter)));
    const request = resolvePage(where, { order: 'newest', ...requireOptions(where, page) }, 'flows');
    return pageOf(await this.#parts.flows.list(request, filter), 'flows', request);
  }

  /** The jobs of a flow with their states, each after those that it needs; null if the flow does not exist any more. */
  async flow(id: number): Promise<FlowRecord | null> {
    checkFlowId(id);
    return this.#parts.flows.read(id);
  }

  /**
   * The relatives of a job in its flow: its parents, which wait for it, and its children, for which it waits. Each list has up
   * to `limit` jobs, 20 by default, by id, and the number of all, counted up to 1,000. A job without a flow has none. Of more
   * parents than `limit`, SQLite has those that the flow got first, MySQL and MariaDB those with the smallest ids. Five
   * statements without locks, whatever the size of the flow, in two round trips on MySQL and MariaDB.
   *
   * @throws JobNotFoundError if the job does not exist, and InvalidOptionsError if `limit` is not 1 to 100
   * @example const { parents, children } = await admin.relatives(id, { limit: 50 });
   */
  async relatives(id: number, options: RelativesOptions = {}): Promise<JobRelatives> {
    checkJobId(id);
    const { limit } = checkAndResolve('Cannot list relatives', RELATIVES_OPTIONS, options);
    const { store, flows } = this.#parts;
    const found = await flows.relatives(id, limit);
    // Most jobs have none, so empty lists say nothing about the job.
    const isAlone = found.parents.count + found.children.count === 0;
    if (isAlone && (await store.states([id])).length === 0) throw new JobNotFoundError(id);
    return found;
  }

  /** Cancels the jobs of a flow that are not finished, as `cancel` does. Resolves with their number. */
  cancelFlow(id: number, which: FlowSelection = {}): Promise<number> {
    return cancelFlow(this.#parts, id, which);
  }

  /** Starts the dead and cancelled jobs of a flow anew, each after those that it needs. Resolves with their number. */
  retryFlow(id: number, which: FlowSelection = {}): Promise<number> {
    return retryFlow(this.#parts, id, which);
  }
}
