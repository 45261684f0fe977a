import { hasCode, StoreUnavailableError } from '../job/errors.js';
import type { NewJob } from '../job/job.js';
import type { KeyedAnswer, KeyStore, PlacedJob } from '../store/key-store.js';
import type { Clock } from '../time/clock.js';

interface Call {
  readonly jobs: readonly NewJob[];
  readonly since: number;
  tries: number;
  resolve(placed: readonly PlacedJob[]): void;
  reject(error: unknown): void;
}

// As a group without keys: so much by itself, or together.
const MOST_JOBS = 500;
const MOST_CHARACTERS = 250_000;

// As long as any work of the library waits for locks.
const PATIENCE_MS = 20_000;
const LONGEST_PAUSE_MS = 30;

/**
 * Group commit for jobs with keys. One group at a time, since calls of this process with one key would only stand in each
 * other's way. A call whose keys somebody else has locked is put back in line after a pause, and holds up no other.
 */
export class KeyedGroup {
  #gathered: Call[] = [];
  #isWriting = false;

  constructor(
    private readonly store: Pick<KeyStore, 'enqueueKeyed'>,
    private readonly clock: Clock,
  ) {}

  enqueue(jobs: readonly NewJob[]): Promise<readonly PlacedJob[]> {
    return new Promise((resolve, reject) => {
      this.#gather({ jobs, since: this.clock.monotonic(), tries: 0, resolve, reject });
    });
  }

  #gather(call: Call): void {
    this.#gathered.push(call);
    if (!this.#isWriting) void this.#turn();
  }

  /** After this turn of the event loop, so that what comes together goes together. */
  async #turn(): Promise<void> {
    this.#isWriting = true;
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#gathered.length > 0) await this.#write(this.#take());
    this.#isWriting = false;
  }

  #take(): Call[] {
    let jobs = 0;
    let characters = 0;
    const tooMany = this.#gathered.findIndex((call, index) => {
      jobs += call.jobs.length;
      for (const { payload, headers } of call.jobs) characters += payload.length + (headers?.length ?? 0);
      return index > 0 && (jobs > MOST_JOBS || characters > MOST_CHARACTERS);
    });
    return this.#gathered.splice(0, tooMany === -1 ? this.#gathered.length : tooMany);
  }

  async #write(calls: readonly Call[]): Promise<void> {
    try {
      const answers = await this.store.enqueueKeyed(calls.map(({ jobs }) => jobs));
      calls.forEach((call, index) => this.#answer(call, answers[index]!));
    } catch (error) {
      // What the database refuses is one call's fault, and none of the others'.
      if (calls.length > 1 && !hasCode(error, 'STORE_UNAVAILABLE')) for (const call of calls) await this.#write([call]);
      else for (const { reject } of calls) reject(error);
    }
  }

  #answer(call: Call, answer: KeyedAnswer): void {
    if (answer instanceof Error) call.reject(answer);
    else if (answer !== 'locked') call.resolve(answer);
    else if (this.clock.monotonic() - call.since >= PATIENCE_MS) call.reject(stillLocked(call));
    else void this.#later(call);
  }

  async #later(call: Call): Promise<void> {
    await this.clock.sleep(Math.random() * Math.min(2 ** ++call.tries, LONGEST_PAUSE_MS));
    this.#gather(call);
  }
}

function stillLocked({ jobs }: Call): StoreUnavailableError {
  const keys = jobs.flatMap(({ key }) => (key ? JSON.stringify(key.text) : []));
  return new StoreUnavailableError(
    `Another transaction has kept the key ${keys.slice(0, 3).join(', ')}${keys.length > 3 ? ', …' : ''} locked for ` +
      `${PATIENCE_MS / 1_000} s. If it is one of this application that waits for enqueue(), pass its \`manager\`.`,
    'not-done',
    undefined,
    true,
  );
}
