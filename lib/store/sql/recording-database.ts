import type { CommitListener } from '../commit-listener.js';
import type { CallerTransaction } from '../job-store.js';
import type { ApplicationWork } from './application-transaction.js';
import { recording, recordingDecided, type IsRecorded } from './recording.js';
import type { SqlDatabase } from './sql-database.js';
import type { Answer, Decided, Statement, Work } from './statement.js';

/** What of a database's work is recorded, and who is told. */
export interface Recorder {
  readonly isRecorded: IsRecorded;
  /** Changes that were recorded have committed. Not told where that is not known for sure. */
  readonly onRecorded: () => void;
}

/**
 * Records what transactions make of jobs in the same transactions: an event is there exactly when its change is. A work says
 * with `note` what it changes; in queues that want no record that costs nothing.
 */
export class RecordingDatabase implements SqlDatabase {
  constructor(
    private readonly database: SqlDatabase,
    private readonly commits: Pick<CommitListener, 'after'>,
    private readonly recorder: Recorder,
  ) {}

  isRecorded(queue: string): boolean {
    return this.recorder.isRecorded(queue);
  }

  transaction<T>(work: () => Work<T>, lockWaits?: number): Promise<T> {
    return this.#telling((onNoted) => {
      return this.database.transaction(() => recording(work(), this.recorder.isRecorded, onNoted), lockWaits);
    });
  }

  decideOnce<T>(work: () => Work<Decided<T>>): Promise<T> {
    return this.#telling((onNoted) => {
      return this.database.decideOnce(() => recordingDecided(work(), this.recorder.isRecorded, onNoted));
    });
  }

  transactOnce<T>(work: () => Work<T>, hasWritten?: (value: T) => boolean): Promise<T> {
    return this.#telling((onNoted) => {
      return this.database.transactOnce(() => recording(work(), this.recorder.isRecorded, onNoted), hasWritten);
    });
  }

  async within<T>(transaction: CallerTransaction, work: () => Work<T>): Promise<T> {
    const { isRecorded, onRecorded } = this.recorder;
    let noted = false;
    const value = await this.database.within(transaction, () => recording(work(), isRecorded, () => (noted = true)));
    if (noted) this.commits.after(transaction, onRecorded);
    return value;
  }

  repeatable<T>(work: () => Work<T>): Promise<T> {
    return this.database.repeatable(work);
  }

  once(writes: readonly Statement[]): Promise<readonly Answer[]> {
    return this.database.once(writes);
  }

  requireOpen(transaction: CallerTransaction): void {
    this.database.requireOpen(transaction);
  }

  latest<T>(work: () => Work<T>, transaction?: CallerTransaction): Promise<T> {
    return this.database.latest(work, transaction);
  }

  ofApplication<T>(work: ApplicationWork<T>): Promise<T> {
    return this.database.ofApplication(work);
  }

  close(): Promise<void> {
    return this.database.close();
  }

  async #telling<T>(act: (onNoted: () => void) => Promise<T>): Promise<T> {
    let noted = false;
    const value = await act(() => (noted = true));
    if (noted) this.recorder.onRecorded();
    return value;
  }
}
