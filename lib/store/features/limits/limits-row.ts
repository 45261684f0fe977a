import { NO_LIMITS, readLimits, type LimitOverrides, type Limits } from '../../../job/limits/limit-options.js';
import { restUntil } from './rest.js';
import { parseJsonOrNull } from '../../core/parse-json.js';
import type { TableRow } from '../../tables/table-schemas.js';

export const LIMIT_COLUMNS = `declared, overrides, rate_until_us, rate_used, ${restUntil()} AS rest_until`;

export type LimitsRow = Omit<TableRow<'limits'>, 'queue' | 'claim_count' | 'rest_ms'>;

export function overridesOf({ overrides }: Pick<LimitsRow, 'overrides'>): LimitOverrides {
  return readLimits(parseJsonOrNull(overrides));
}

/** Limits that another program has written badly do not apply. */
export function limitsOf(row: Pick<LimitsRow, 'declared' | 'overrides'>): Limits {
  return { ...NO_LIMITS, ...readLimits(parseJsonOrNull(row.declared)), ...overridesOf(row) };
}
