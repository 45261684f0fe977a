import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from '../app.module.js';
import { Mailer } from '../mailer.js';
import { QuietLogger } from './quiet-logger.js';
import type { Settings } from './settings.js';

/** The application, connected with its database and its mail server. No job runs before `init()`. */
export async function createApp(settings: Settings, smtpUrl: string): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule.with(settings, smtpUrl), {
    // Drop this line to see what Nest and the queue say for themselves.
    logger: new QuietLogger(),
    abortOnError: false,
    // Connections that browsers keep do not delay the end.
    forceCloseConnections: true,
  });
  app.set('json spaces', 2);
  try {
    await app.get(Mailer).verify();
  } catch (error) {
    await app.close();
    throw error;
  }
  return app;
}
