import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { JobFinishedError, JobNotFoundError, JobNotHeldError } from 'nestjs-sql-queue';

/** What is needed of Express here. */
interface Response {
  status(code: number): { json(body: object): void };
}

/** Two people click on one task: the second is told who was faster. */
@Catch(JobNotHeldError, JobFinishedError, JobNotFoundError)
export class RefusalFilter implements ExceptionFilter {
  catch(error: JobNotHeldError | JobFinishedError | JobNotFoundError, host: ArgumentsHost): void {
    const { code, message } = error;
    const status = error instanceof JobNotFoundError ? 404 : 409;
    host.switchToHttp().getResponse<Response>().status(status).json({ code, message });
  }
}
