import type { Account } from './doctor/account-privileges.js';
import type { Diagnosis } from '../job/problems/diagnosis.js';
import { examine } from './doctor/examine.js';
import { openUnchecked, type UncheckedStoreSettings } from './open-unchecked.js';

export interface DiagnosisSettings extends UncheckedStoreSettings {
  readonly account: Account;
  readonly largestPayloadBytes: number;
  /** Default 1,000,000. */
  readonly maxHistoryLength?: number;
}

/**
 * Examines the database for conditions that harm the queue. Changes nothing. Connects without a check of the server and
 * the tables, because the examination reports their problems. Rejects with StoreUnavailableError if the database is
 * unavailable.
 */
export async function diagnose(settings: DiagnosisSettings): Promise<Diagnosis[]> {
  const { clock, account, largestPayloadBytes, maxHistoryLength = 1_000_000 } = settings;
  const opened = await openUnchecked(settings);
  try {
    return await examine(opened.checks, { ...opened, clock, account, largestPayloadBytes, maxHistoryLength });
  } finally {
    await opened.close();
  }
}
