import { once } from 'node:events';
import { setInterval, setTimeout } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { databaseTitle } from './database.js';
import { listen } from './listen.js';
import { MailLog } from '../mail-log.js';
import { Progress } from '../progress.js';
import { withoutPassword, type Settings } from './settings.js';
import { SignupsImport } from '../signups-import.js';

const PRETENDED = 'one that only pretends, and takes 100 ms a mail (SMTP_URL=smtp://… for a real one)';

/** Signs up who is in the file, waits until all mails are sent, and serves on until it is told to stop. */
export async function run(app: NestExpressApplication, settings: Settings, stopping: AbortSignal): Promise<void> {
  stopping.addEventListener('abort', () => console.log('\nStopping: mails that are on their way may arrive …'));
  await app.init();
  const url = await listen(app.getHttpServer(), settings.port);
  console.log(`Database     ${databaseTitle(settings)}`);
  console.log(`Mail server  ${settings.smtpUrl ? withoutPassword(settings.smtpUrl) : PRETENDED}`);
  console.log(`Listening    ${url}\n`);

  await workOff(app, settings.csvPath, stopping);
  if (stopping.aborted) return;
  console.log(`\n${app.get(Progress).summary()}\n`);
  if (settings.once) return;

  app.get(MailLog).everyMail = true;
  console.log(`Still serving at ${url}, until Ctrl-C. Sign somebody up, and look at the queue:`);
  console.log(
    `  curl ${url}/signups -H 'content-type: application/json' -d '{ "email": "you@example.com", "name": "You" }'`,
  );
  console.log(`  curl ${url}/queue\n`);
  if (!stopping.aborted) await once(stopping, 'abort');
}

async function workOff(app: NestExpressApplication, csvPath: string, stopping: AbortSignal): Promise<void> {
  const progress = app.get(Progress);
  const over = new AbortController();
  const reporting = report(progress, over.signal);
  try {
    console.log(`Reading ${csvPath}`);
    const { rows, signedUp, alreadySignedUp, broken } = await app.get(SignupsImport).run(csvPath, stopping);
    console.log(`Read ${rows} rows: ${signedUp} signed up, ${alreadySignedUp} already signed up, ${broken} broken.`);
    while (!stopping.aborted && (await progress.left()) !== 0) await setTimeout(100);
  } finally {
    over.abort();
    await reporting;
  }
}

async function report(progress: Progress, over: AbortSignal): Promise<void> {
  try {
    for await (const _ of setInterval(1_000, undefined, { signal: over })) await progress.print();
  } catch {
    // It is over; or something is wrong, and then the work itself fails and tells why.
  }
}
