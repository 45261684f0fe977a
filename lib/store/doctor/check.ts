import type { Clock } from '../../common/clock.js';
import { hasCode } from '../../job/errors.js';
import { isMissingTable } from '../core/classify-error.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import type { NotificationChannel } from '../notifications/notification-channel.js';
import type { DatabaseSchema } from '../schema/database-schema.js';
import type { Tables } from '../tables/table-names.js';
import type { Account } from './account-privileges.js';
import type { Diagnosis, DiagnosisCheck } from '../../job/problems/diagnosis.js';

/** The database that a light check examines. */
export interface LightPatient {
  readonly database: SqlDatabase;
  readonly dialect: Dialect;
  readonly schema: DatabaseSchema;
  readonly tables: Tables;
  readonly clock: Clock;
  readonly largestPayloadBytes: number;
  /** The path of the database; undefined on a server and in memory. */
  readonly file: string | undefined;
}

/** The database that all checks examine. */
export interface Patient extends LightPatient {
  /** Whose privileges to expect. */
  readonly account: Account;
  /** Undefined if no other process can open the database. */
  readonly channel: NotificationChannel | undefined;
  /** The history list of a server is too long from this length on. */
  readonly maxHistoryLength: number;
}

export type Verdict = Omit<Diagnosis, 'check'>;

export interface Check<Of extends LightPatient = Patient> {
  readonly name: DiagnosisCheck;
  /** The privilege that the account may lack, as a statement for an administrator. */
  readonly needs?: string;
  run(patient: Of): Promise<readonly Verdict[]>;
}

/**
 * A check that a process may run while it serves requests: bounded reads without locks, for which an account of the queue has
 * the privileges, of facts that the statistics do not have.
 */
export interface LightCheck extends Check<LightPatient> {
  readonly isLight: true;
}

export const isLight = (check: Check): check is LightCheck => 'isLight' in check;

export const ok = (facts: string): Verdict => ({ level: 'ok', facts, wayOut: null });
export const note = (facts: string, wayOut: string): Verdict => ({ level: 'note', facts, wayOut });
export const problem = (facts: string, wayOut: string): Verdict => ({ level: 'problem', facts, wayOut });
export const unknown = (facts: string, wayOut: string): Verdict => ({ level: 'unknown', facts, wayOut });

export const READER = 'Use an account that may read all tables: docs/guides/security.md.';

/** Rejects only if the database is unavailable. */
export async function runCheck<Of extends LightPatient>(check: Check<Of>, patient: Of): Promise<Diagnosis[]> {
  const verdicts = await check.run(patient).catch((error: unknown) => [verdictOn(error, check)]);
  return verdicts.map((verdict) => ({ check: check.name, ...verdict }));
}

function verdictOn(error: unknown, { needs = READER }: Pick<Check, 'needs'>): Verdict {
  if (hasCode(error, 'STORE_UNAVAILABLE')) throw error;
  const { message } = error as Error;
  if (hasCode(error, 'MISSING_PRIVILEGE')) return unknown('the account may not read this', needs);
  if (isMissingTable(error)) return unknown('a table is missing', 'See the check "tables".');
  return unknown(`the database rejects the question: ${message}`, 'Ask it with an account that has more privileges.');
}
