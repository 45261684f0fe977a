import { Injectable } from '@nestjs/common';
import { OnQueueEvent, type QueueEvent, type ResultOf } from 'nestjs-sql-queue';
import { WELCOME } from './queues.js';

/** Logs dead letters always, and every mail after the import. */
@Injectable()
export class MailLog {
  everyMail = false;

  @OnQueueEvent('dead', { queue: WELCOME })
  onDead({ jobId, attempt, error }: QueueEvent): void {
    const attempts = attempt === 1 ? '1 attempt' : `${attempt} attempts`;
    console.log(`  dead letter: job ${jobId} after ${attempts}: ${error?.message}`);
  }

  @OnQueueEvent('completed', { queue: WELCOME })
  onCompleted({ jobId, result }: QueueEvent): void {
    if (!this.everyMail) return;
    console.log(`  sent: job ${jobId} to ${(result as ResultOf<typeof WELCOME>).email}`);
  }

  @OnQueueEvent('failed', { queue: WELCOME })
  onFailed({ jobId, error, delayMs }: QueueEvent): void {
    if (!this.everyMail || delayMs === undefined) return;
    console.log(`  retry in ${Math.round(delayMs)} ms: job ${jobId}: ${error?.message}`);
  }
}
