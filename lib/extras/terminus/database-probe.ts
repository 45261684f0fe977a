import type { Clock } from '../../common/clock.js';
import { withTimeout } from '../../common/abort.js';
import { hasCode } from '../../job/errors.js';
import type { SchemaState } from '../../store/schema/schema-state.js';

/** Reads the version of the tables for health checks, and remembers since when that fails. */
export class DatabaseProbe {
  /** Checks share the read that is under way, so that they do not pile up while the database does not answer. */
  #reading: Promise<SchemaState> | undefined;
  /** A monotonic time. */
  #downSince: number | undefined;

  constructor(
    private readonly readSchemaState: () => Promise<SchemaState>,
    private readonly clock: Pick<Clock, 'monotonic' | 'sleep'>,
  ) {}

  /** How long the reads have failed, in milliseconds; 0 if the last one succeeded. */
  get downMs(): number {
    return this.#downSince === undefined ? 0 : this.clock.monotonic() - this.#downSince;
  }

  /** Undefined if the database is away, or does not answer in time. Rejects with any other error. */
  async read(timeoutMs: number): Promise<SchemaState | undefined> {
    const startedAt = this.clock.monotonic();
    try {
      const reading = (this.#reading ??= this.#read());
      if (await withTimeout(this.clock, timeoutMs, reading)) {
        this.#downSince = undefined;
        return await reading;
      }
    } catch (error) {
      if (!hasCode(error, 'STORE_UNAVAILABLE')) throw error;
    }
    this.#downSince ??= startedAt;
    return undefined;
  }

  async #read(): Promise<SchemaState> {
    try {
      return await this.readSchemaState();
    } finally {
      this.#reading = undefined;
    }
  }
}
