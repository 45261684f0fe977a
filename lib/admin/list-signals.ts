import { checkAndResolve, flag, option, type SchemaOf } from '../job/option-schema.js';
import { cursorOf, resolvePage, type PageOptions } from '../job/page-options.js';
import type { SignalRecord } from '../store/features/steps/step-store.js';
import type { AdminParts } from './admin-parts.js';

/** Which signals to list. */
export interface SignalFilter {
  /** Only signals that no job has received and that no job waits for. Default false. */
  unmatched?: boolean;
}

/** A page of signals, by the times at which they were sent. */
export interface SignalPage {
  /** With `unmatched` a page examines at most 2,000 signals, so it may have fewer, or none, although there is a `next`. */
  signals: SignalRecord[];
  /** The `after` of the next page; undefined at the end of the list. */
  next?: string;
}

const FILTER = { unmatched: option(flag, false) } satisfies SchemaOf<SignalFilter>;

export async function listSignals({ steps }: AdminParts, filter: SignalFilter, page: PageOptions): Promise<SignalPage> {
  const where = 'Cannot list signals';
  const { unmatched } = checkAndResolve(where, FILTER, filter);
  const request = resolvePage(where, page, 'signals');
  const { signals, next } = await steps.signals(request, unmatched);
  return { signals, ...(next && { next: cursorOf(next, 'signals', request.order)! }) };
}
