import { isEnabledAt } from '../../../job/settings/enabled.js';
import { query, type Work } from '../../core/statement.js';
import type { TableRow } from '../../tables/table-schemas.js';
import { settingsOf } from '../queues/settings-row.js';
import { expiresAt, markQueuesUsed } from '../queues/queue-registration.js';
import type { ClaimPermit } from './consumer-store.js';

// Claims of a consumer record the use of a temporary queue once per quarter of its expiry time.
const PAUSED_AND_LAST_USE = `
  SELECT paused, settings, :now AS at, CASE WHEN ${expiresAt('', 4)} <= :now THEN 1 ELSE 0 END AS needs_mark,
         EXISTS (SELECT 1 FROM {limits} l WHERE l.queue = :queue) AS limited,
         EXISTS (SELECT 1 FROM {groups} g WHERE g.queue = :queue) AS grouped
  FROM {queues}
  WHERE queue = :queue`;

type PermitRow = Pick<TableRow<'queues'>, 'paused' | 'settings'> &
  Readonly<Record<'at' | 'needs_mark' | 'limited' | 'grouped', number>>;

/** A queue that was never used has no row. */
export function* readClaimPermit(queue: string): Work<ClaimPermit> {
  const [row] = yield* query<PermitRow>(PAUSED_AND_LAST_USE, { queue });
  if (!row) return { isPaused: false, isLimited: false, hasGroups: false };
  if (row.paused === 0 && Number(row.needs_mark) === 1) yield* markQueuesUsed([queue]);
  const isClosed = row.paused > 0 || !isEnabledAt(settingsOf(row).enabled, Number(row.at));
  return { isPaused: isClosed, isLimited: Number(row.limited) > 0, hasGroups: Number(row.grouped) > 0 };
}
