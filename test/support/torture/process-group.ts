import { setTimeout as sleep } from 'node:timers/promises';
import type { ProgramProcess } from '../programs.js';
import type { Random } from '../random.js';

const RESTART_DELAY_MS = 200;

/** A fixed number of processes of one kind. A process that ends is replaced. */
export class ProcessGroup {
  readonly #processes = new Set<ProgramProcess>();
  readonly #slots: Promise<void>[];
  readonly #blockedUntil = new WeakMap<ProgramProcess, number>();
  #completedBefore = 0;
  #stopping = false;

  /** @param onCrash called for each process that did not stop cleanly */
  constructor(
    size: number,
    private readonly start: () => Promise<ProgramProcess>,
    private readonly onCrash: (program: ProgramProcess) => void,
  ) {
    this.#slots = Array.from({ length: size }, () => this.#keepSlotFilled());
  }

  /** The number of completed jobs of all processes, including ended ones. */
  get completed(): number {
    return [...this.#processes].reduce((sum, { completed }) => sum + completed, this.#completedBefore);
  }

  /** Blocks the event loop of a process that is not blocked yet. Otherwise the blocks would add up. */
  block(random: Random, ms: number): void {
    const now = Date.now();
    const free = [...this.#processes].filter((program) => (this.#blockedUntil.get(program) ?? 0) <= now);
    if (free.length === 0) return;
    const program = random.pick(free);
    this.#blockedUntil.set(program, now + ms);
    program.send({ block: ms });
  }

  /** Whether an event loop is blocked. */
  get isBlocked(): boolean {
    const now = Date.now();
    return [...this.#processes].some((program) => (this.#blockedUntil.get(program) ?? 0) > now);
  }

  pickOne(random: Random): ProgramProcess | undefined {
    return this.#processes.size === 0 ? undefined : random.pick([...this.#processes]);
  }

  /** Stops all processes cleanly. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#processes].map((program) => program.stop()));
    await Promise.all(this.#slots);
  }

  async #keepSlotFilled(): Promise<void> {
    while (!this.#stopping) {
      const program = await this.start();
      if (this.#stopping) void program.stop();
      this.#processes.add(program);
      await program.ended;
      this.#processes.delete(program);
      this.#completedBefore += program.completed;
      if (this.#stopping) return;
      this.onCrash(program);
      await sleep(RESTART_DELAY_MS);
    }
  }
}
