/** Sets the clock of this process, as far as JavaScript can see it: the time of day, not the monotonic clock. */
export function shiftClock(byMs: number): void {
  if (byMs === 0) return;
  const Real = Date;
  class Shifted extends Real {
    constructor(...given: [] | ConstructorParameters<typeof Date>) {
      if (given.length === 0) super(Real.now() + byMs);
      else super(...given);
    }

    static override now(): number {
      return Real.now() + byMs;
    }
  }
  globalThis.Date = Shifted as DateConstructor;
}
