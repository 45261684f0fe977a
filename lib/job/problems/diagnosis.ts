/** `problem`: change something. `unknown`: the account may not read it. `note`: worth knowing, nothing to repair. */
export type DiagnosisLevel = 'ok' | 'note' | 'problem' | 'unknown';

/** The names of all checks. A database has some of them. */
export type DiagnosisCheck =
  | 'server'
  | 'durability'
  | 'file'
  | 'tables'
  | 'privileges'
  | 'clock'
  | 'transactions'
  | 'lock waits'
  | 'claims'
  | 'queues'
  | 'plan of the claim'
  | 'notifications'
  | 'blobs';

/** One fact about the database, and the way out if it is a problem. */
export interface Diagnosis {
  readonly check: DiagnosisCheck;
  readonly level: DiagnosisLevel;
  readonly facts: string;
  /** Null if there is nothing to do. */
  readonly wayOut: string | null;
}
