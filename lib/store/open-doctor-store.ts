import type { Account } from './doctor/account-privileges.js';
import type { DoctorStore } from './doctor/doctor-store.js';
import { examine } from './doctor/examine.js';
import { openUnchecked, type UncheckedSettings } from './open-unchecked.js';

export interface DoctorSettings extends UncheckedSettings {
  readonly account: Account;
  readonly largestPayloadBytes: number;
  /** Default 1,000,000. */
  readonly maxHistoryLength?: number;
}

/** Connects without a check of the server and the tables, because the examination reports their problems. */
export async function openDoctorStore(settings: DoctorSettings): Promise<DoctorStore> {
  const { clock, account, largestPayloadBytes, maxHistoryLength = 1_000_000 } = settings;
  const opened = await openUnchecked(settings);
  const patient = { ...opened, clock, account, largestPayloadBytes, maxHistoryLength };
  return { examine: () => examine(patient), close: () => opened.close() };
}
