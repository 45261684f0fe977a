import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor, UnrecoverableError, type PayloadOf, type ResultOf } from 'nestjs-sql-queue';
import { Mailer, isPermanentRejection, rejectionReason } from './mailer.js';
import { WELCOME } from './queues.js';

type Payload = PayloadOf<typeof WELCOME>;
type Result = ResultOf<typeof WELCOME>;

/** Sends the mails of the queue. A return completes the job. An error retries it after a growing delay. */
@Injectable()
export class WelcomeMail {
  constructor(private readonly mailer: Mailer) {}

  @QueueProcessor(WELCOME)
  async send(job: JobContext<Payload>): Promise<Result> {
    const { email, name } = job.payload;
    try {
      const messageId = await this.mailer.send({
        to: { address: email, name },
        subject: `Welcome, ${name}!`,
        text: `Hello ${name},\n\nit is good to have you with us.\n`,
        // A job runs at least once. With the same id in every run, a mail server can drop the second copy.
        messageId: `<welcome-${job.id}@signups.example>`,
      });
      return { email, messageId };
    } catch (error) {
      const message = `${email}: ${rejectionReason(error)}`;
      // A retry would not help, so the job is dead at once.
      if (isPermanentRejection(error)) throw new UnrecoverableError(message, { cause: error });
      throw new Error(message, { cause: error });
    }
  }
}
