import { setTimeout as sleep } from 'node:timers/promises';
import type { ProgramProcess } from '../programs.js';
import type { Random } from '../random.js';

const BEFORE_NEXT_MS = 200;

/** So many processes of one kind: whoever ends is replaced. */
export class Crew {
  readonly #members = new Set<ProgramProcess>();
  readonly #places: Promise<void>[];
  readonly #blockedUntil = new WeakMap<ProgramProcess, number>();
  #completedBefore = 0;
  #stopping = false;

  /** @param onDeath told of each that did not end in order */
  constructor(
    size: number,
    private readonly start: () => Promise<ProgramProcess>,
    private readonly onDeath: (program: ProgramProcess) => void,
  ) {
    this.#places = Array.from({ length: size }, () => this.#keepFilled());
  }

  /** Jobs that all of them have completed, those that are gone among them. */
  get completed(): number {
    return [...this.#members].reduce((sum, { completed }) => sum + completed, this.#completedBefore);
  }

  /**
   * Has the event loop of one of them stand still, of one that does not yet: or the blocks would add up.
   */
  block(random: Random, ms: number): void {
    const now = Date.now();
    const free = [...this.#members].filter((program) => (this.#blockedUntil.get(program) ?? 0) <= now);
    if (free.length === 0) return;
    const program = random.pick(free);
    this.#blockedUntil.set(program, now + ms);
    program.tell({ block: ms });
  }

  /** Some event loop stands still. */
  get isBlocked(): boolean {
    const now = Date.now();
    return [...this.#members].some((program) => (this.#blockedUntil.get(program) ?? 0) > now);
  }

  one(random: Random): ProgramProcess | undefined {
    return this.#members.size === 0 ? undefined : random.pick([...this.#members]);
  }

  /** Lets all end in order. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#members].map((program) => program.stop()));
    await Promise.all(this.#places);
  }

  async #keepFilled(): Promise<void> {
    while (!this.#stopping) {
      const program = await this.start();
      if (this.#stopping) void program.stop();
      this.#members.add(program);
      await program.ended;
      this.#members.delete(program);
      this.#completedBefore += program.completed;
      if (this.#stopping) return;
      this.onDeath(program);
      await sleep(BEFORE_NEXT_MS);
    }
  }
}
