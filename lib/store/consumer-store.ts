import type { MaybeLater } from '../job/user-rule.js';
import type { JobFilter } from './admin-store.js';
import type { ClaimedJob, JobRecord } from '../job/job.js';
import type { Outcome } from '../job/outcome.js';
import type { PageRequest } from '../job/page-options.js';
import type { ClaimRequest } from './job-store.js';

/** Who says that he holds a job: whoever has its token, its owner, or an admin who takes it from either. */
export type Holder = { readonly token: number } | { readonly owner: string } | 'whoever';

/** A claim of one job for somebody who is no worker of this library. */
export interface Assignee {
  readonly workerId: string;
  /** '' where it is whoever has the token. */
  readonly owner: string;
  /** Null: until it is released. */
  readonly leaseMs: number | null;
  /** See ClaimRequest. */
  readonly deadLetter?: string | false;
}

/** A job in somebody's hands. The claim's id is the token. */
export interface Assignment {
  readonly job: ClaimedJob;
  /** Decoded; null if the job is `malformed`. */
  readonly payload: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly claimId: number;
  readonly owner: string;
  /** By the database's clock; null: until it is released. */
  readonly leaseUntilMs: number | null;
  readonly stage: string | null;
  /** Nobody had it before. */
  readonly isFresh: boolean;
}

/** Jobs that one claim has taken, each of which is to have a claim of its own. */
export interface Sharing extends Assignee {
  readonly claimId: number;
  readonly jobs: readonly ClaimedJob[];
}

export interface StageRequest extends Assignee {
  readonly queue: string;
  readonly stage: string;
  readonly limit: number;
  /** For jobs that do not say how often they may be tried. */
  readonly maxAttempts: number;
}

/** See ClaimRequest. */
export type AssignRules = Pick<ClaimRequest, 'maxAttempts' | 'deadLetter'>;

export interface Verdict {
  readonly outcome: Outcome;
  /** How long its queue keeps the finished job in the history; false: not at all. See keptMs. */
  readonly keepMs: number | false;
  /** See Settlement. */
  readonly deadLetter?: string | false;
}

/** See SnoozeUntil. */
export type Snooze = Extract<Outcome, { kind: 'snooze' }>;

/** How an assignment ended. */
export interface EndedAssignment {
  readonly job: ClaimedJob;
  readonly outcome: Outcome;
  /** How long it was held. */
  readonly heldMs: number;
  /** '' if it was held by token alone. */
  readonly owner: string;
}

/** A job as those look at it who hand out work. */
export interface AssignedJobRecord extends JobRecord {
  /** Where it stands in work that people do in steps; null: in no stage. */
  stage: string | null;
  /** When the job is taken from whoever holds it; null where nobody does, or until it is released. */
  leaseUntil: Date | null;
  /** When the owner has the job back, who snoozed it and kept it; null if that time has come, or the job was not snoozed. */
  snoozedUntil: Date | null;
}

/** A page of a list of jobs as those look at it who hand out work. */
export interface AssignedJobPage {
  jobs: AssignedJobRecord[];
  /** The `after` of the next page; none at the end of the list. */
  next?: string;
}

/**
 * Jobs in the hands of people and programs that are no workers of this library. Whoever does not hold a job is refused with a
 * JobNotHeldError, and for a job that is finished or not there with a JobFinishedError or JobNotFoundError; nothing is done then.
 */
export interface ConsumerStore {
  /** False where the queue is paused everywhere. Notes that it is in use, if it is a temporary one. */
  mayTake(queue: string): Promise<boolean>;
  /** Gives each job of a claim a claim of its own. None where the first one's lease lapsed meanwhile. */
  share(sharing: Sharing): Promise<Assignment[]>;
  /** Hands out up to `limit` jobs that wait in a stage, best first. Two callers never receive the same job. */
  takeFromStage(request: StageRequest): Promise<Assignment[]>;
  /**
   * Gives a job that waits or is scheduled, or that `from` holds, to this owner until it is released.
   *
   * @param rules asked for where nobody holds it; otherwise it goes on as it was claimed
   */
  assign(id: number, to: Assignee, from: Holder, rules: (queue: string) => AssignRules): Promise<Assignment>;
  /** Ends an assignment as `decide` says of the job. */
  end(id: number, holder: Holder, decide: (job: ClaimedJob) => MaybeLater<Verdict>): Promise<EndedAssignment>;
  /** The holder keeps the job, and its lease begins at that time. A lease that has lapsed does not come back. */
  snooze(id: number, holder: Holder, outcome: Snooze): Promise<EndedAssignment>;
  /** Sets the lease to end so long from now, and answers when that is. A lease that has lapsed is not renewed. */
  extend(id: number, holder: Holder, leaseMs: number): Promise<number>;
  /** Ends an assignment, and leaves the job to whoever claims from that stage; null: to everybody. */
  move(id: number, holder: Holder, stage: string | null): Promise<EndedAssignment>;
  /** Jobs that anybody may claim, in the order in which they are claimed. */
  unassigned(queue: string, page: PageRequest): Promise<AssignedJobRecord[]>;
  /** The owner's jobs, by id. */
  assigned(owner: string, filter: Pick<JobFilter, 'queue'>, page: PageRequest): Promise<AssignedJobRecord[]>;
  /** Jobs of a stage, whether somebody holds them or not, in the order in which they are claimed. */
  inStage(queue: string, stage: string, page: PageRequest): Promise<AssignedJobRecord[]>;
}
