import { logStack, logText, type JobLogger, type LogParams } from '../common/logger.js';
import type { ClaimedJob } from './job.js';
import type { StoredError } from './stored-error.js';

type LoggedJob = Pick<ClaimedJob, 'id' | 'queue' | 'name' | 'attempt'> & { readonly headers?: string | null };

// The headers of a job are a JSON text. They are searched only for a log line, so no job is decoded for it.
const TRACE_ID = /"traceparent":"[0-9a-f]{2}-([0-9a-f]{32})-/;

/** The parameters of a log line about a job. */
export function jobLogParams(job: LoggedJob, workerId?: string | null): LogParams {
  const { id: jobId, queue, name, attempt, headers } = job;
  const traceId = TRACE_ID.exec(headers ?? '')?.[1];
  return { queue, jobId, name, attempt, ...(workerId && { workerId }), ...(traceId && { traceId }) };
}

/** The log of one attempt of a job. */
export function attemptLogger(logger: JobLogger, job: LoggedJob, workerId: string): JobLogger {
  const withJob = (params: LogParams | undefined) => ({ ...jobLogParams(job, workerId), ...params });
  return {
    log: (message, params) => logger.log(message, withJob(params)),
    warn: (message, params) => logger.warn(message, withJob(params)),
    error: (message, stack, params) => logger.error(message, stack, withJob(params)),
    debug: (message, params) => logger.debug(message, withJob(params)),
  };
}

/** The handler threw after it had handed off the job, or completed it in its transaction. */
export function logLateError(
  logger: JobLogger,
  { id }: LoggedJob,
  isHandedOff: boolean,
  { message, stack }: StoredError,
): void {
  const action = isHandedOff ? 'been handed off' : 'completed in its transaction';
  const line = `Job ${id} had ${action}, then its handler threw: ${logText(message)}`;
  logger.error(line, logStack(stack, message));
}
