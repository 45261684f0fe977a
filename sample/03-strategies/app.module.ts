import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { databaseOptions } from '../shared/database.js';
import { Mails, MAILS } from './mails.js';
import { REPORTS, reportsBy } from './reports.js';
import { strategies } from './strategies.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...databaseOptions('./strategies.sqlite'), autoLoadEntities: true }),
    // Two instances that share only the database: each has its own tables, connections and options.
    SqlQueueModule.forRoot(MAILS),
    SqlQueueModule.forRoot({ ...REPORTS, defaults: { concurrency: 5 } }),
  ],
  providers: [Mails, ...strategies.map(reportsBy)],
})
export class AppModule {}
