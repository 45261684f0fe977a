/** Does something to many jobs at once: while it is under way the next ones gather, and go together when it is done. */
export class Gathering {
  #ids = new Set<number>();
  #next: Promise<void> | undefined;
  #underWay: Promise<void> = Promise.resolve();

  constructor(private readonly act: (ids: readonly number[]) => Promise<void>) {}

  /** Resolves when it has been done to this one, and rejects where it could not be. */
  add(id: number): Promise<void> {
    this.#ids.add(id);
    return (this.#next ??= this.#go());
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#next?.catch(() => undefined);
    await this.#underWay;
  }

  async #go(): Promise<void> {
    await this.#underWay;
    // After this turn of the event loop, so that what comes together goes together.
    await new Promise((resolve) => setImmediate(resolve));
    const ids = [...this.#ids];
    this.#ids = new Set();
    this.#next = undefined;
    const done = this.act(ids);
    this.#underWay = done.catch(() => undefined);
    return done;
  }
}
