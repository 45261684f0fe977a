/** `problem`: change something. `unknown`: the account may not read it. `note`: worth knowing, nothing to repair. */
export type DiagnosisLevel = 'ok' | 'note' | 'problem' | 'unknown';

/** One fact about the database, and the way out if it is a problem. */
export interface Diagnosis {
  /** The name of the check. */
  readonly check: string;
  readonly level: DiagnosisLevel;
  readonly facts: string;
  /** Null if there is nothing to do. */
  readonly wayOut: string | null;
}

/** Examines the database for conditions that harm the queue. Changes nothing. */
export interface DoctorStore {
  /** Rejects with StoreUnavailableError if the database is unavailable. */
  examine(): Promise<Diagnosis[]>;
  close(): Promise<void>;
}
