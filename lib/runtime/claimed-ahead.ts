import type { ClaimedJob } from '../job/job.js';
import { isSuspect } from '../job/outcome.js';
import type { HeldClaim } from './held-claim.js';

export interface Place {
  readonly claim: HeldClaim;
  readonly job: ClaimedJob;
  /** Its place in the claim's list: what has begun is told to the database as the head of that list. */
  readonly index: number;
}

/** Jobs of one queue that this process has claimed and not begun, in the order in which they shall begin. */
export class ClaimedAhead {
  #places: Place[] = [];

  constructor(private readonly order: 'fifo' | 'lifo') {}

  get length(): number {
    return this.#places.length;
  }

  get next(): Place | undefined {
    return this.#places[0];
  }

  /**
   * Adds the jobs of one claim. With `fifo` they take their places by priority and id, since a job that has come back, or
   * has committed late, may be older than jobs that are here already. The order within a claim stays as it is.
   */
  add(places: readonly Place[]): void {
    const [first] = places;
    if (!first) return;
    const last = this.#places.at(-1);
    if (this.order === 'lifo' || !last || !isBefore(first, last)) this.#places.push(...places);
    else this.#merge(places);
  }

  take(): Place {
    return this.#places.shift()!;
  }

  /** Takes out all that match. */
  drop(matches: (place: Place) => boolean = () => true): Place[] {
    const dropped = this.#places.filter(matches);
    if (dropped.length > 0) this.#places = this.#places.filter((place) => !matches(place));
    return dropped;
  }

  /** Behind the last suspect: it runs alone, and new jobs that went before it could keep it from that for ever. */
  #merge(places: readonly Place[]): void {
    let from = this.#places.length;
    while (from > 0 && !isSuspect(this.#places[from - 1]!.job)) from--;
    const here = this.#places.splice(from);
    let taken = 0;
    for (const place of places) {
      while (taken < here.length && !isBefore(place, here[taken]!)) this.#places.push(here[taken++]!);
      this.#places.push(place);
    }
    this.#places.push(...here.slice(taken));
  }
}

/** Suspects begin after all other jobs that are here. */
function isBefore({ job: one }: Place, { job: other }: Place): boolean {
  if (isSuspect(one) || isSuspect(other)) return !isSuspect(one);
  return one.priority === other.priority ? one.id < other.id : one.priority < other.priority;
}
