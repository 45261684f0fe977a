import { pageSize } from '../../../common/lists.js';
import type { PageOrder, PagePosition, PageRequest } from '../../../job/page-options.js';
import { orderKeywordsOf } from '../../reads/candidates.js';
import { query, type Work } from '../../core/statement.js';
import type { TableRow } from '../../tables/table-schemas.js';
import type { SignalRecord } from './step-store.js';

/** How long a signal is kept for jobs that wait for it later. */
export const SIGNAL_RETENTION_MS = 30 * 86_400_000;

// A page examines at most this number of signals. It may then be short, and `next` continues after them.
const MAX_EXAMINED = 2_000;
const BATCH_SIZE = 500;

// A step that waits has the hash of its signal. The steps of a finished job outlive it.
const selectSignals = (order: PageOrder, hasPosition: boolean) => {
  const { beyond, way } = orderKeywordsOf(order);
  return `
  SELECT g.hash, g.name, g.signal_key, g.sent_at,
         CASE WHEN g.awaited = 1 OR EXISTS (
                SELECT 1
                FROM {steps} s {by steps.signal}
                WHERE s.signal_hash = g.hash
                  AND EXISTS (SELECT 1 FROM {jobs} j {by primary} WHERE j.id = s.job_id)
              )
              THEN 1 ELSE 0 END AS awaited
  FROM {signals} g {by signals.sent}
  WHERE ${hasPosition ? `g.sent_at ${beyond}= :sentAt AND (g.sent_at ${beyond} :sentAt OR g.hash ${beyond} :hash)` : '1 = 1'}
  ORDER BY g.sent_at ${way}, g.hash ${way}
  LIMIT :limit`;
};

type SignalRow = Omit<TableRow<'signals'>, 'data' | 'key'> & { readonly signal_key: string };

export function* listSignals(
  { after, limit, order }: PageRequest,
  unmatchedOnly: boolean,
): Work<{ signals: SignalRecord[]; next?: PagePosition }> {
  const signals: SignalRecord[] = [];
  const size = pageSize(BATCH_SIZE);
  let last = after;
  for (let examined = 0; examined < MAX_EXAMINED; examined += size) {
    const [sentAt = null, hash = null] = last ?? [];
    const rows = yield* query<SignalRow>(selectSignals(order, last !== undefined), { sentAt, hash, limit: size });
    for (const row of rows) {
      const signal = toRecord(row);
      if (unmatchedOnly && signal.isMatched) {
        last = positionOf(row);
        continue;
      }
      if (signals.length === limit) return { signals, next: last! };
      signals.push(signal);
      last = positionOf(row);
    }
    if (rows.length < size) return { signals };
  }
  return { signals, next: last! };
}

function positionOf({ sent_at, hash }: SignalRow): PagePosition {
  return [Number(sent_at), hash];
}

function toRecord({ name, signal_key, sent_at, awaited }: SignalRow): SignalRecord {
  const sentAt = new Date(Number(sent_at));
  const expiresAt = new Date(sentAt.getTime() + SIGNAL_RETENTION_MS);
  return { name, key: signal_key, sentAt, expiresAt, isMatched: Number(awaited) === 1 };
}
