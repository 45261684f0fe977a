import { Module, type DynamicModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { databaseOptions } from './program/database.js';
import { HomeController } from './home.controller.js';
import { MailLog } from './mail-log.js';
import { Mailer, SMTP_URL } from './mailer.js';
import { Progress } from './progress.js';
import { QueueController } from './queue.controller.js';
import { queues } from './queues.js';
import type { Settings } from './program/settings.js';
import { SignupsController } from './signups.controller.js';
import { SignupsImport } from './signups-import.js';
import { SignupsService } from './signups.service.js';
import { Turns } from './turns.js';
import { User } from './user.entity.js';
import { UsersTable } from './users-table.js';
import { WelcomeMail } from './welcome-mail.js';

@Module({})
export class AppModule {
  static with(settings: Settings, smtpUrl: string): DynamicModule {
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot({
          ...databaseOptions(settings),
          autoLoadEntities: true,
          // Fail at once if the address is wrong, instead of trying for half a minute.
          toRetry: () => false,
        }),
        TypeOrmModule.forFeature([User]),
        SqlQueueModule.forRoot({ queues, worker: { shutdown: { timeout: '5s' } } }),
      ],
      controllers: [HomeController, SignupsController, QueueController],
      providers: [
        { provide: SMTP_URL, useValue: smtpUrl },
        ...[UsersTable, Turns, SignupsService, SignupsImport],
        ...[Mailer, WelcomeMail, MailLog, Progress],
      ],
    };
  }
}
