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

type Problem = { readonly running: string } | 'after the run' | 'not awaited';

/**
 * A step started inside another step or beside one, or a call of the job was not awaited, or came after the end of the run.
 * It is not remembered.
 */
export class StepNotAllowedError extends SqlQueueError {
  readonly code = 'STEP_NOT_ALLOWED';

  /**
   * @param step the name of the step, or the call, for example `job.sleep("night")`
   * @param options cause: the error of a call that was not awaited
   */
  constructor(
    readonly jobId: number,
    readonly queue: string,
    readonly step: string,
    problem: Problem = 'after the run',
    options?: ErrorOptions,
  ) {
    super(`Job ${jobId} of queue "${queue}": ${describe(step, problem)}`, options);
  }
}

function describe(step: string, problem: Problem): string {
  switch (problem) {
    case 'after the run':
      return `expected no call of the job after its run, got ${step}. Await all work before the handler returns.`;
    case 'not awaited':
      return `expected the handler to await ${step}, got its end before. Add "await".`;
    default:
      return (
        `expected one step at a time, got step "${step}" while "${problem.running}" was running. Await each step ` +
        `before the next one.`
      );
  }
}
