import { SqlQueueError } from './sql-queue-error.js';

/** A run used the name of a step twice. The second step did not run. */
export class DuplicateStepError extends SqlQueueError {
  readonly code = 'DUPLICATE_STEP';

  constructor(
    readonly jobId: number,
    readonly queue: string,
    readonly step: string,
  ) {
    super(
      `Job ${jobId} of queue "${queue}": expected each step of a run to have a name of its own, got "${step}" twice. In a ` +
        `loop, add the index to the name.`,
    );
  }
}

/** A step started inside another step, beside one that was not awaited, or after its run. It is not remembered. */
export class StepNotAllowedError extends SqlQueueError {
  readonly code = 'STEP_NOT_ALLOWED';

  /** @param running the step that has not ended; undefined: the run is over */
  constructor(
    readonly jobId: number,
    readonly queue: string,
    readonly step: string,
    readonly running?: string,
  ) {
    super(
      `Job ${jobId} of queue "${queue}": expected one step at a time, got step "${step}" ` +
        (running === undefined ? 'after the run was over' : `while "${running}" was running`) +
        `. Await each step before the next one, and before the handler returns.`,
    );
  }
}
