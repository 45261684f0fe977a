import { FLOW_STATES, type FlowFilter, type FlowSummary } from '../job/flows/flow-record.js';
import { InvalidOptionsError } from '../job/errors.js';
import { isName, NAME_EXPECTED } from '../job/identifiers.js';
import { kind, oneOf, option, optionProblems, type SchemaOf } from '../job/option-schema.js';
import { requireOptions } from '../job/expectation.js';
import { cursorOf, resolvePage, type PageOptions } from '../job/page-options.js';
import type { AdminParts } from './admin-parts.js';

/** A page of flows, by the times at which they were stored. */
export interface FlowPage {
  /**
   * A page reads at most 500 flows, and 1,000 dependencies of each, so it may have fewer, or none, although there is a
   * `next`.
   */
  flows: FlowSummary[];
  /** The `after` of the next page; undefined at the end of the list. */
  next?: string;
}

const FILTER = {
  state: option(oneOf(...FLOW_STATES)),
  queue: option(kind(`a queue: ${NAME_EXPECTED}`, isName)),
} satisfies SchemaOf<FlowFilter>;

export async function listFlows({ flows }: AdminParts, filter: FlowFilter, page: PageOptions): Promise<FlowPage> {
  const where = 'Cannot list flows';
  InvalidOptionsError.throwIfAny(where, optionProblems(FILTER, requireOptions(where, filter)));
  const request = resolvePage(where, { order: 'newest', ...requireOptions(where, page) }, 'flows');
  const { flows: listed, next } = await flows.list(request, filter);
  return { flows: listed, ...(next && { next: cursorOf(next, 'flows', request.order)! }) };
}
