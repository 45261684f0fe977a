import { isFinalOutcome } from '../../job/outcome.js';
import { groupBy } from '../../common/group-by.js';
import type { Completion } from './completion.js';
import { Ids, type StatementResult, type Statement, type Values } from '../core/statement.js';

/** A statement on jobs of one claim, or on claims. If it matches fewer rows than it names, a claim was lost. */
export interface FencedStatement {
  readonly statement: Statement;
  /** How many rows the statement must change or return. Undefined: any number. */
  readonly expectedRows: number | undefined;
  readonly allowsMore?: boolean;
}

export function isShort({ expectedRows, allowsMore = false }: FencedStatement, result: StatementResult): boolean {
  if (expectedRows === undefined) return false;
  const matched = Math.max(result.affectedRows, result.rows.length);
  return allowsMore ? matched < expectedRows : matched !== expectedRows;
}

export function fence(
  sql: string,
  claimId: number,
  completions: readonly Completion[],
  values: Values = {},
): FencedStatement {
  return {
    statement: { sql, values: { ...values, claimId, ids: idsOf(completions) } },
    expectedRows: completions.length,
  };
}

export function idsOf(completions: readonly Completion[]): Ids {
  return new Ids(completions.map(({ job }) => job.id));
}

export function isFinished({ outcome }: Completion): boolean {
  return isFinalOutcome(outcome);
}

export function returnsToQueue(completion: Completion): boolean {
  return !isFinished(completion);
}

/** In the order of ids, in which every transaction locks several rows. */
export function groupByClaim(completions: readonly Completion[]): [claimId: number, completions: Completion[]][] {
  return [...groupBy(completions, ({ claimId }) => claimId)].sort(([a], [b]) => a - b);
}
