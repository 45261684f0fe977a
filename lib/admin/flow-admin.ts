import type { FlowRecord } from '../job/flows/flow-record.js';
import type { PageOptions } from '../job/page-options.js';
import type { AdminParts } from './admin-parts.js';
import { cancelFlow, checkFlowId, retryFlow, type FlowSelection } from './flow-actions.js';
import { JobAdmin } from './job-admin.js';
import { listSteps, type StepPage } from './list-steps.js';
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

  /** The jobs of a flow with their states, each after those that it needs; null if the flow does not exist any more. */
  async flow(id: number): Promise<FlowRecord | null> {
    checkFlowId(id);
    return this.#parts.flows.read(id);
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
