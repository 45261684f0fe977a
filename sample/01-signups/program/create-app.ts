import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from '../app.module.js';
import { Mailer } from '../mailer.js';
import { QuietLogger } from './quiet-logger.js';
import type { Settings } from './settings.js';

/** Connects the application with its database and its mail server. No job runs before `init()`. */
export async function createApp(settings: Settings, smtpUrl: string): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule.with(settings, smtpUrl), {
    // Remove this line to see the logs of Nest and the queue.
    logger: new QuietLogger(),
    abortOnError: false,
    // Keep-alive connections of browsers must not delay the end.
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
