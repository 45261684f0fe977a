/** The tick of a job, as the job's row stores it. */
export interface StoredTick {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly missed?: true;
}

/** The tick that has enqueued a job. */
export interface JobSchedule {
  /** The name of the schedule. */
  readonly name: string;
  /** The time of the tick by the schedule. The job may have been enqueued later. */
  readonly at: Date;
  /** Whether no worker ran the tick within a minute. */
  readonly missed: boolean;
}

export function toJobSchedule({ name, at, missed }: StoredTick): JobSchedule {
  return { name, at: new Date(at), missed: missed === true };
}
