import type { ClaimedJob } from '../job/job.js';
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

  get length(): number {
    return this.#places.length;
  }

  get next(): Place | undefined {
    return this.#places[0];
  }

  add(place: Place): void {
    this.#places.push(place);
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
}
