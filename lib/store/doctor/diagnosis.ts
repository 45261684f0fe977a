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
