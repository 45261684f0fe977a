import { Module } from '@nestjs/common';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { databaseOptions } from '../shared/database.js';
import { PhotoChecker } from './photo-checker.js';
import { TasksController } from './tasks.controller.js';
import { TasksService } from './tasks.service.js';

@Module({
  imports: [
    SqlQueueModule.forRoot({
      connection: databaseOptions('./people.sqlite'),
      // At first only people work. The switch on the page starts the worker.
      worker: { autoStart: false },
    }),
  ],
  controllers: [TasksController],
  providers: [TasksService, PhotoChecker],
})
export class AppModule {}
