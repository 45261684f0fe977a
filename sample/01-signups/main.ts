import 'reflect-metadata';
import { onStopSignal } from '../shared/stop-signal.js';
import { MailSink } from './mail-sink.js';
import { createApp } from './program/create-app.js';
import { explainDatabase } from './program/database.js';
import { run } from './program/run.js';
import { explain } from './program/set-up-error.js';
import { readSettings, type Settings } from './program/settings.js';
import { stop } from './program/stop.js';

async function main(settings: Settings): Promise<void> {
  const sink = settings.smtpUrl ? undefined : await MailSink.start();
  try {
    const app = await createApp(settings, settings.smtpUrl?.href ?? sink!.url);
    try {
      await run(app, settings, onStopSignal());
    } finally {
      await stop(app);
    }
  } finally {
    await sink?.close();
  }
}

try {
  const settings = readSettings(process.env, process.argv.slice(2));
  await main(settings).catch((error: unknown) => {
    throw explainDatabase(error, settings);
  });
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
