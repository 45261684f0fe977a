import type { NestExpressApplication } from '@nestjs/platform-express';
import { SqlQueueRunner } from 'nestjs-sql-queue';
import { Progress } from '../progress.js';

/**
 * Stops claiming, waits for running jobs and closes the application. `app.close()` alone would do the same. Stopping
 * the runner first allows to count the remaining mails.
 */
export async function stop(app: NestExpressApplication): Promise<void> {
  try {
    await app.get(SqlQueueRunner).stop();
    const left = await app.get(Progress).left();
    console.log(`Stopped. Mails left to send: ${left ?? 'unknown'}.${left === 0 ? '' : ' Start again to go on.'}`);
  } finally {
    await app.close();
  }
}
