import { once } from 'node:events';
import { setInterval, setTimeout } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { databaseTitle } from './database.js';
import { listen } from './listen.js';
import { MailLog } from '../mail-log.js';
import { Progress } from '../progress.js';
import { withoutPassword, type Settings } from './settings.js';
import { SignupsImport } from '../signups-import.js';

const OWN_MAIL_SERVER = "the sample's own, which delivers nothing (SMTP_URL=smtp://… for a real one)";

/** Signs up the people of the file, waits until all mails are sent, and serves until `stopping` is aborted. */
export async function run(app: NestExpressApplication, settings: Settings, stopping: AbortSignal): Promise<void> {
  stopping.addEventListener('abort', () => console.log('\nStopping: running mails may finish …'));
  await app.init();
  const url = await listen(app.getHttpServer(), settings.port);
  console.log(`Database     ${databaseTitle(settings)}`);
  console.log(`Mail server  ${settings.smtpUrl ? withoutPassword(settings.smtpUrl) : OWN_MAIL_SERVER}`);
  console.log(`Listening    ${url}\n`);

  await importAndSend(app, settings.csvPath, stopping);
  if (stopping.aborted) return;
  console.log(`\n${app.get(Progress).summary()}\n`);
  if (settings.once) return;

  app.get(MailLog).everyMail = true;
  console.log(`Still serving at ${url}, until Ctrl-C. Sign up and read the queue:`);
  console.log(
    `  curl ${url}/signups -H 'content-type: application/json' -d '{ "email": "you@example.com", "name": "You" }'`,
  );
  console.log(`  curl ${url}/queue\n`);
  if (!stopping.aborted) await once(stopping, 'abort');
}

async function importAndSend(app: NestExpressApplication, csvPath: string, stopping: AbortSignal): Promise<void> {
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
    // The import has ended, or it fails with the same error.
  }
}
