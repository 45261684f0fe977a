import Database from 'better-sqlite3';
import type { Connection, Pool, PoolOptions } from 'mysql2';
import { interceptingDriver } from '../support/intercepting-driver.js';
import type { ServerName } from '../support/servers.js';

/** Statements that change no row and lock none, so that a hold before them shows nothing. */
const SURROUNDING = /^\s*(SET|START TRANSACTION|BEGIN|ROLLBACK|SELECT @@)/i;
const LOCKING = /FOR UPDATE|INSERT|UPDATE|DELETE|IMMEDIATE/;

/** Which statement is held: the one after so many, of all statements or of those that lock rows after a plain read. */
export interface Hold {
  readonly passes: number;
  readonly onlyAfterReads?: boolean;
}

/** All statements of one process pass it. It holds one of them, or ends all connections as the death of a process does. */
export class Gate {
  /** The threads of the server that serve this process. */
  readonly threads = new Set<number>();
  readonly #connections = new Set<Connection>();
  readonly #pools = new Set<Pool>();
  #passes = Infinity;
  #onlyAfterReads = false;
  /** The last statement has read rows without locking them. */
  #hasRead = false;
  #isKilled = false;
  #held: { readonly released: Promise<void>; release(): void } | undefined;
  #onHeld: () => void = () => undefined;

  get isHolding(): boolean {
    return this.#held !== undefined;
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** Resolves when the statement is held. */
  arm({ passes, onlyAfterReads = false }: Hold): Promise<void> {
    this.#passes = passes;
    this.#onlyAfterReads = onlyAfterReads;
    return new Promise((resolve) => (this.#onHeld = resolve));
  }

  /** Holds no statement any more, also none that a call has left running or has not come to yet. */
  disarm(): void {
    this.#passes = Infinity;
    this.release();
  }

  release(): void {
    this.#held?.release();
    this.#held = undefined;
  }

  kill(): void {
    this.#isKilled = true;
    for (const connection of this.#connections) connection.destroy();
    this.release();
  }

  /** Ends the connections of a killed process, too. */
  async close(): Promise<void> {
    for (const pool of this.#pools) await new Promise((resolve) => pool.end(resolve));
  }

  /** Resolves when no statement is held, at the latest after the release of the present one. */
  async untilReleased(): Promise<void> {
    await this.#held?.released;
  }

  /** The driver for the DataSource of the process. */
  driver(server: ServerName): object {
    return server === 'sqlite' ? this.#sqlite() : this.#mysql();
  }

  #mustHold(sql: string): boolean {
    if (this.#isKilled) throw new Error('This process was killed.');
    if (SURROUNDING.test(sql)) return false;
    const isLockAfterRead = this.#hasRead && LOCKING.test(sql);
    this.#hasRead = !LOCKING.test(sql);
    // One at a time: the release of the first one would not reach it.
    if (this.#held || (this.#onlyAfterReads && !isLockAfterRead)) return false;
    if (this.#passes-- > 0) return false;
    this.#passes = Infinity;
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    this.#held = { released, release };
    this.#onHeld();
    return true;
  }

  #mysql(): object {
    const pass = async (sql: string, _run: unknown, connection: object) => {
      this.#connections.add(connection as Connection);
      const { threadId } = connection as { threadId?: number };
      if (threadId !== undefined) this.threads.add(threadId);
      if (this.#mustHold(sql)) await this.untilReleased();
      if (this.#isKilled) throw new Error('This process was killed.');
    };
    const driver = interceptingDriver(pass) as { createPool(options: PoolOptions): Pool };
    return {
      ...driver,
      createPool: (options: PoolOptions) => {
        const pool = driver.createPool(options);
        this.#pools.add(pool);
        return pool;
      },
    };
  }

  /** A transaction of SQLite is one step, so the gate stands before it: the database is busy for this process. */
  #sqlite(): object {
    const pass = (sql: string) => {
      if (this.#held || this.#mustHold(sql)) throw Object.assign(new Error('held'), { code: 'SQLITE_BUSY' });
    };
    return class extends Database {
      constructor(file: string, options: Database.Options) {
        super(file, options);
        // Only the library asks for it. The connection of the application is not held.
        if (options.timeout !== 0) return;
        super.pragma('synchronous = OFF');
        const { exec, prepare } = this;
        this.exec = (sql) => {
          if (sql === 'BEGIN IMMEDIATE') pass('IMMEDIATE');
          return exec.call(this, sql);
        };
        this.prepare = ((sql: string) => {
          const prepared = prepare.call(this, sql);
          const { all, run } = prepared;
          const step =
            <Args extends unknown[], Result>(act: (...args: Args) => Result) =>
            (...args: Args): Result => {
              if (!this.inTransaction) pass(sql);
              return act.apply(prepared, args);
            };
          return Object.assign(prepared, { all: step(all), run: step(run) });
        }) as typeof this.prepare;
      }

      override pragma(text: string, options?: Database.PragmaOptions): unknown {
        return text.startsWith('synchronous') ? undefined : super.pragma(text, options);
      }
    };
  }
}
