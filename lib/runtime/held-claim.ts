import type { ClaimedJob } from '../job/job.js';
import { isSuspect, startable } from '../job/outcome.js';
import type { ClaimProgress, ClaimRequest } from '../store/job-store.js';

/** A claim this process holds: what it knows of the lease, and which jobs are still to be accounted for. */
export class HeldClaim {
  readonly id: number;
  readonly queue: string;
  /** Ids of jobs whose outcomes have not committed. The claim's row goes with the last of them. */
  readonly unsettled: Set<number>;
  /** Ids of those whose outcomes are on their way: they have ended here, or will not begin. */
  readonly #ending = new Set<number>();
  /** When the lease ends by this process's monotonic clock, counted from before it was asked for. */
  deadline: number;
  /** How many jobs may have begun by the word of the database; no further one may begin. */
  started: number;
  /** How far down the list jobs have begun. */
  begun = 0;
  /** A job completed in its handler's own transaction, or was handed off: the claim is not ended before it is seen to be empty. */
  transacted = false;
  /** A wish that more may begin is under way. */
  asking = false;
  /** Some job may still carry the claim's id without being in these books: the row must stay until it lapses. */
  mustLapse = false;
  /** That its lease is lost has been logged: once, not once a job. */
  isLossLogged = false;
  readonly #leaseMs: number;
  readonly #isByLock: boolean;

  // Without the jobs themselves, whose payloads go with each that ends.
  readonly #list: readonly { readonly id: number; readonly isSuspect: boolean }[];

  constructor(request: ClaimRequest, jobs: readonly ClaimedJob[], askedAt: number) {
    this.#list = jobs.map((job) => ({ id: job.id, isSuspect: isSuspect(job) }));
    this.id = request.claimId;
    this.queue = request.queue;
    this.unsettled = new Set(jobs.map((job) => job.id));
    this.started = Math.min(request.started, startable(jobs.map(isSuspect)));
    this.#leaseMs = request.leaseMs;
    this.#isByLock = Boolean(request.lockId);
    this.deadline = askedAt + request.leaseMs;
  }

  /** Whether others may have taken its jobs: the lease has lapsed, or a lock may be gone unheard. */
  mayBeTaken(now: number): boolean {
    return this.#isByLock || now >= this.deadline;
  }

  renewed(askedAt: number): void {
    this.deadline = askedAt + this.#leaseMs;
  }

  /** The job's outcome is on its way. */
  ends(jobId: number): void {
    this.#ending.add(jobId);
  }

  /** Whether a job of it runs, or has ended just now and says so in a moment. */
  get runs(): boolean {
    return this.#list.slice(0, this.begun).some((job) => this.#isHere(job));
  }

  /**
   * What a flush that settles these jobs has to say of the claim. From then on `ahead` more jobs may begin than have
   * begun; suspects one by one, when nothing else of the claim runs. Jobs that will not begin are passed over.
   */
  progress(settling: ReadonlySet<number>, ahead: number): ClaimProgress {
    const finished = !this.#list.some(({ id }) => this.unsettled.has(id) && !settling.has(id));
    const next: { readonly place: number; readonly isSuspect: boolean }[] = [];
    for (let place = this.begun; place < this.#list.length && next.length <= ahead; place++) {
      if (this.#isHere(this.#list[place]!)) next.push({ place, isSuspect: this.#list[place]!.isSuspect });
    }
    const together = Math.min(ahead, startable(next.map(({ isSuspect }) => isSuspect)));
    const more = next[0]?.isSuspect ? Number(!this.runs) : together;
    const started = Math.max(this.started, more > 0 ? next[more - 1]!.place + 1 : 0);
    return { id: this.id, started, finished: finished && !this.transacted && !this.mustLapse };
  }

  #isHere({ id }: { readonly id: number }): boolean {
    return this.unsettled.has(id) && !this.#ending.has(id);
  }
}
