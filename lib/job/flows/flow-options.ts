import type { EnqueueOptions } from '../enqueue-options.js';
import { InvalidOptionsError } from '../errors.js';
import { expected, requireOptions } from '../expectation.js';
import { KEY_OPTIONS, type KeyOptions } from '../job-key.js';
import { ON_FAILURE, type OnFailure } from './flow.js';

/** The options of `job.fanOut`: those of `enqueue` without a key, for each child. */
export interface FanOutOptions extends Omit<EnqueueOptions, keyof KeyOptions> {
  /**
   * What happens to the waiting job if one that it needs ends dead or cancelled: `cancel` cancels it, too. `run` lets it
   * run when all have ended. `wait` keeps it blocked until the other job is retried and completes. Default `cancel`.
   */
  onFailure?: OnFailure;
}

/** Separates the options of the flow from those of the job, which the caller checks. */
export function resolveFlowOptions(
  where: string,
  given: FanOutOptions,
): { onFailure: OnFailure; options: EnqueueOptions | undefined } {
  const { onFailure = 'cancel', ...options } = requireOptions(where, given);
  const keys = Object.keys(KEY_OPTIONS).filter((name) => name in options);
  InvalidOptionsError.throwIfAny(where, [
    onFailureProblem(onFailure),
    keys.length > 0
      ? `expected no ${keys.join(', ')} for a job of a flow, got one: another job could own the key`
      : undefined,
  ]);
  return { onFailure, options: Object.keys(options).length > 0 ? options : undefined };
}

export function onFailureProblem(onFailure: unknown): string | undefined {
  return expected(ON_FAILURE.includes(onFailure as OnFailure), `onFailure to be 'cancel', 'run' or 'wait'`, onFailure);
}
