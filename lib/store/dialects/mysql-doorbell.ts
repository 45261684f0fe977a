import { StoreUnavailableError } from '../../job/errors.js';
import type { Clock } from '../../time/clock.js';
import type { Doorbell, Heard } from '../doorbell.js';
import { Ringer } from '../ringer.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { query } from '../sql/statement.js';
import type { Hosts } from './hosts.js';
import type { MysqlOptions } from './mysql-options.js';
import { Line } from './mysql-line.js';
import { MysqlListeners } from './mysql-listeners.js';

const TRIAL_MS = 5_000;
const HANG_UP_MS = 1_000;
const LONGEST_PAUSE_MS = 100;

/**
 * These servers cannot notify anybody, but a connection can interrupt what another one runs. A worker sleeps on a
 * connection of its own, under a mark that everybody can find in the list of processes; who enqueues cuts the sleep short.
 */
export class MysqlDoorbell implements Doorbell {
  readonly #listeners: MysqlListeners;
  readonly #ringer: Ringer;
  #line: Line | undefined;

  constructor(
    private readonly database: SqlDatabase,
    private readonly options: MysqlOptions,
    private readonly hosts: Hosts,
    /** Whoever listens under another one's name hears another doorbell. */
    table: string,
    private readonly clock: Clock,
  ) {
    this.#listeners = new MysqlListeners(database, table, clock);
    this.#ringer = new Ringer((rings) => this.#listeners.ring(rings, this.#line?.id), clock);
  }

  async findFault(stop: AbortSignal): Promise<string | undefined> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#try(stop);
      } catch (error) {
        if (stop.aborted) return undefined;
        if (error instanceof StoreUnavailableError) throw error;
        // Nothing is wrong with the doorbell where nothing else works either.
        await this.database.repeatable(() => query('SELECT 1'));
        if (tries > 1) return (error as Error).message;
      }
    }
  }

  async listen(queues: readonly string[], stop: AbortSignal, onListening: () => void): Promise<Heard> {
    const over = new AbortController();
    let ending: Promise<void> | undefined;
    try {
      const line = await this.#connected(stop);
      if (stop.aborted) return 'nothing';
      const end = () => void (ending = this.#cutShort(line, over.signal));
      stop.addEventListener('abort', end, { once: true, signal: over.signal });
      const listening = line.listen(this.#listeners.mark(line.id, queues)).finally(() => over.abort());
      const [rung] = await Promise.all([listening, this.#untilShown(line, over.signal, onListening)]);
      return rung && !stop.aborted ? 'ring' : 'nothing';
    } catch (error) {
      this.hangUp();
      if (stop.aborted) return 'nothing';
      throw error;
    } finally {
      over.abort();
      await ending;
    }
  }

  hangUp(): void {
    this.#line?.hangUp();
    this.#line = undefined;
  }

  // While nobody is rung for, and where the last round found somebody: else it would be one look more for each round.
  foresee(): void {
    if (this.#ringer.isAtRest) this.#listeners.lookAhead();
  }

  ring(queue: string, jobs: number): void {
    this.#ringer.ring(queue, jobs);
  }

  ringAll(): void {
    this.#ringer.ringAll();
  }

  close(): Promise<void> {
    this.hangUp();
    return this.#ringer.close();
  }

  async #try(stop: AbortSignal): Promise<string | undefined> {
    const line = await this.#connected(stop);
    const over = new AbortController();
    const end = AbortSignal.any([over.signal, stop]);
    let heard = false;
    try {
      const listening = line.listen(this.#listeners.mark(line.id, [])).then((rung) => {
        heard = rung;
        over.abort();
        return rung;
      });
      const late = this.clock.sleep(TRIAL_MS, end).then(() => over.abort());
      const [shown] = await Promise.all([this.#wakeOwn(line, end), Promise.race([listening, late])]);
      if (heard) return undefined;
      this.hangUp();
      return shown ? 'a ring did not arrive' : 'the list of processes does not show who listens';
    } finally {
      over.abort();
    }
  }

  async #connected(stop: AbortSignal): Promise<Line> {
    if (!this.#line?.isOpen) this.#line = await Line.open(this.options, this.hosts, this.clock, stop);
    return this.#line;
  }

  /** What begins to listen on one connection can be seen on another one a moment later. */
  async #untilShown(line: Line, over: AbortSignal, onListening: () => void): Promise<void> {
    for (let pauseMs = 1; !over.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      await this.clock.sleep(pauseMs, over);
      if (!over.aborted && (await this.#listeners.shows(line.id))) return onListening();
    }
  }

  /** Answers whether the connection was seen to listen before it was over. */
  async #wakeOwn(line: Line, over: AbortSignal): Promise<boolean> {
    for (let pauseMs = 1; !over.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      await this.clock.sleep(pauseMs, over);
      if (!over.aborted && (await this.#listeners.wake(line.id))) return true;
    }
    return false;
  }

  /** The server would notice only seconds later that the connection is gone, and show it as listening until then. */
  async #cutShort(line: Line, over: AbortSignal): Promise<void> {
    const late = this.clock.sleep(HANG_UP_MS, over).then(() => over.aborted || line.hangUp());
    await this.#wakeOwn(line, over).catch(() => line.hangUp());
    await late;
  }
}
