import { InvalidOptionsError } from '../job/errors.js';
import { isName, NAME_EXPECTED } from '../job/identifiers.js';
import { kind, option, optionProblems, type SchemaOf } from '../job/option-schema.js';
import { requireOptions } from '../job/expectation.js';
import { cursorOf, resolvePage, type PageOptions } from '../job/page-options.js';
import { SIGNAL_KEY } from '../job/signal.js';
import type { WaitFilter, WaitRecord } from '../store/features/steps/step-store.js';
import type { AdminParts } from './admin-parts.js';

/** A page of waits for signals. Those for the same signal stand together. */
export interface WaitPage {
  /** A page examines at most 2,000 waits, so it may have fewer, or none, although there is a `next`. */
  waits: WaitRecord[];
  /** The `after` of the next page; undefined at the end of the list. */
  next?: string;
}

const NAME = kind(NAME_EXPECTED, isName);
const FILTER = { name: option(NAME), key: option(SIGNAL_KEY), queue: option(NAME) } satisfies SchemaOf<WaitFilter>;

export async function listWaits(
  { steps }: AdminParts,
  filter: WaitFilter,
  page: Omit<PageOptions, 'order'>,
): Promise<WaitPage> {
  const where = 'Cannot list waits';
  InvalidOptionsError.throwIfAny(where, optionProblems(FILTER, requireOptions(where, filter)));
  const request = resolvePage(where, page, 'waits');
  const { waits, next } = await steps.waits(request, filter);
  return { waits, ...(next && { next: cursorOf(next, 'waits', request.order)! }) };
}
