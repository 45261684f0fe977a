import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { databaseOptions, strategies } from './database.js';
import { Mails, MAILS } from './mails.js';
import { REPORTS, reportsBy } from './reports.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...databaseOptions(), autoLoadEntities: true }),
    // Two queues that share a database and nothing else: each has tables, connections and options of its own.
    SqlQueueModule.forRoot(MAILS),
    SqlQueueModule.forRoot({ ...REPORTS, defaults: { concurrency: 5 } }),
  ],
  providers: [Mails, ...strategies.map(reportsBy)],
})
export class AppModule {}
