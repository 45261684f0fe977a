import { resolveEnqueueOptions, type EnqueueOptions } from '../../lib/job/enqueue-options.js';
import type { NewJob } from '../../lib/job/job.js';
import { newJob } from './jobs.js';

/** A job as `enqueue` would store it with these options. */
export function keyedJob(options: EnqueueOptions, given: Partial<NewJob> = {}): NewJob {
  const { name, priority, delayMs, runAtMs, attempts, headers, overrides, key } = resolveEnqueueOptions('q', options);
  return newJob({
    ...{ name, priority, delayMs, runAtMs, maxAttempts: attempts, key },
    headers: headers && JSON.stringify(headers),
    overrides: overrides && JSON.stringify(overrides),
    ...given,
  });
}
