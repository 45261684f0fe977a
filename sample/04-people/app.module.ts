import { Module } from '@nestjs/common';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { PhotoChecker } from './photo-checker.js';
import { TasksController } from './tasks.controller.js';
import { TasksService } from './tasks.service.js';

const { DATABASE_URL: url } = process.env;

@Module({
  imports: [
    SqlQueueModule.forRoot({
      connection: url ? { type: 'mysql', url } : { type: 'better-sqlite3', database: './people.sqlite' },
      // People begin. The switch on the page starts the worker.
      worker: { autoStart: false },
    }),
  ],
  controllers: [TasksController],
  providers: [TasksService, PhotoChecker],
})
export class AppModule {}
