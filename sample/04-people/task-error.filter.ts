import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { JobFinishedError, JobNotFoundError, JobNotAssignedError } from 'nestjs-sql-queue';

/** The part of Express's response that the filter uses. */
interface Response {
  status(code: number): { json(body: object): void };
}

/** If two people take one task, the second receives the owner's name. */
@Catch(JobNotAssignedError, JobFinishedError, JobNotFoundError)
export class TaskErrorFilter implements ExceptionFilter {
  catch(error: JobNotAssignedError | JobFinishedError | JobNotFoundError, host: ArgumentsHost): void {
    const { code, message } = error;
    const status = error instanceof JobNotFoundError ? 404 : 409;
    host.switchToHttp().getResponse<Response>().status(status).json({ code, message });
  }
}
