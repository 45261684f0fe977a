import type { NestExpressApplication } from '@nestjs/platform-express';
import { SqlQueueRunner } from 'nestjs-sql-queue';
import { Progress } from '../progress.js';

/**
 * Ends the application: no new jobs, those that run may end, and then everything closes. `app.close()` alone would do
 * the same; stopping the runner first leaves a moment to ask what is left.
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
