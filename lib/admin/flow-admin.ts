import type { FlowFilter, FlowRecord, JobRelatives } from '../job/flows/flow-record.js';
import type { PageOptions } from '../job/page-options.js';
import type { WaitFilter } from '../store/features/steps/step-store.js';
import type { AdminParts } from './admin-parts.js';
import type { ChangeOptions } from './in-transaction.js';
import { cancelFlow, checkFlowId, retryFlow, type FlowSelection } from './flow-actions.js';
import { JobAdmin } from './job-admin.js';
import { listFlows, type FlowPage } from './list-flows.js';
import { sendSignal } from './send-signal.js';
import { listRelatives, type RelativesOptions } from './list-relatives.js';
import { listSteps, type StepPage } from './list-steps.js';
import { listWaits, type WaitPage } from './list-waits.js';
import { listSignals, type SignalFilter, type SignalPage } from './list-signals.js';

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
  steps(id: number, page: PageOptions = {}): Promise<StepPage> {
    return listSteps(this.#parts, id, page);
  }

  /**
   * The signals of the last 30 days, without their data, by the times at which they were sent. `unmatched`: those that no
   * job has received and that no job waits for, for example because of another key.
   *
   * @example const { signals } = await admin.signals({ unmatched: true }, { order: 'newest' });
   */
  signals(filter: SignalFilter = {}, page: PageOptions = {}): Promise<SignalPage> {
    return listSignals(this.#parts, filter, page);
  }

  /**
   * The waits of jobs for signals: `job.waitFor` whose signal has not been sent yet. Those for one signal stand together. A
   * filter of name and key reads their part of an index; takes no locks.
   *
   * @example const { waits } = await admin.waits({ name: 'approval', key: 'order:7' });
   */
  waits(filter: WaitFilter = {}, page: Omit<PageOptions, 'order'> = {}): Promise<WaitPage> {
    return listWaits(this.#parts, filter, page);
  }

  /**
   * Sends a signal as `QueueProducer.signal` does, with an entry in the audit, which has its name and key but not its data.
   * Resolves with the number of jobs that it woke; null in your transaction, or if that cannot be known yet.
   *
   * @example await admin.as(user.email).signal('approval', 'order:7', { by: user.name });
   */
  signal(name: string, key: string, data?: unknown, options: ChangeOptions = {}): Promise<number | null> {
    return sendSignal(this.#parts, name, key, data, options);
  }

  /**
   * The flows with the numbers of their jobs by state, the newest first. A flow with a dead job that others wait for is
   * `stuck`. Takes no locks, and its cost does not depend on the number of jobs.
   *
   * @example const { flows, next } = await admin.flows({ state: 'stuck' }, { limit: 20 });
   */
  flows(filter: FlowFilter = {}, page: PageOptions = {}): Promise<FlowPage> {
    return listFlows(this.#parts, filter, page);
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
  relatives(id: number, options: RelativesOptions = {}): Promise<JobRelatives> {
    return listRelatives(this.#parts, id, options);
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
