import type { JobLogger, LogParams } from '../common/job-logger.js';
import { logStack, logText } from '../common/log-text.js';
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
export class AttemptLogger implements JobLogger {
  constructor(
    private readonly logger: JobLogger,
    private readonly job: LoggedJob,
    private readonly workerId: string,
  ) {}

  log(message: string, params?: LogParams): void {
    this.logger.log(message, this.#with(params));
  }

  warn(message: string, params?: LogParams): void {
    this.logger.warn(message, this.#with(params));
  }

  error(message: string, stack?: string, params?: LogParams): void {
    this.logger.error(message, stack, this.#with(params));
  }

  /** The handler threw after it had handed off the job, or completed it in its transaction. */
  threwLate(isHandedOff: boolean, { message, stack }: StoredError): void {
    const action = isHandedOff ? 'been handed off' : 'completed in its transaction';
    const line = `Job ${this.job.id} had ${action}, then its handler threw: ${logText(message)}`;
    this.error(line, logStack(stack, message));
  }

  debug(message: string, params?: LogParams): void {
    this.logger.debug(message, this.#with(params));
  }

  #with(params: LogParams | undefined): LogParams {
    return { ...jobLogParams(this.job, this.workerId), ...params };
  }
}
