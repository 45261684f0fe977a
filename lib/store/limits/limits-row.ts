import { NO_LIMITS, readLimits, type LimitOverrides, type Limits } from '../../job/limits/limit-options.js';
import { parseJsonOrNull } from '../core/parse-json.js';

export const LIMIT_COLUMNS = `declared, overrides, rate_until_us, rate_used, rest_until`;

/** A row of the table of limits, as the drivers return it. */
export interface LimitsRow {
  /** JSON: the limits from the options of the latest process that declared any. */
  readonly declared: string | null;
  /** JSON: the limits that the administrator has set. */
  readonly overrides: string | null;
  readonly rate_until_us: number;
  readonly rate_used: number;
  readonly rest_until: number;
}

export function overridesOf({ overrides }: Pick<LimitsRow, 'overrides'>): LimitOverrides {
  return readLimits(parseJsonOrNull(overrides));
}

/** Limits that another program has written badly do not apply. */
export function limitsOf(row: Pick<LimitsRow, 'declared' | 'overrides'>): Limits {
  return { ...NO_LIMITS, ...readLimits(parseJsonOrNull(row.declared)), ...overridesOf(row) };
}
