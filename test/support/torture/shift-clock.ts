/** Shifts the wall clock of this process for JavaScript, but not the monotonic clock. */
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
