import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor, UnrecoverableError, type PayloadOf, type ResultOf } from 'nestjs-sql-queue';
import { Mailer, isRefusedForGood, whyNotSent } from './mailer.js';
import { WELCOME } from './queues.js';

type Payload = PayloadOf<typeof WELCOME>;
type Result = ResultOf<typeof WELCOME>;

/** Sends the mails of the queue. Returning completes a job; throwing has it tried again, later and later. */
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
        // A job runs at least once. The same id every time lets a mail server drop the second copy.
        messageId: `<welcome-${job.id}@signups.example>`,
      });
      return { email, messageId };
    } catch (error) {
      const why = `${email}: ${whyNotSent(error)}`;
      // Asking again would not help: the job is dead at once.
      if (isRefusedForGood(error)) throw new UnrecoverableError(why, { cause: error });
      throw new Error(why, { cause: error });
    }
  }
}
