import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { database } from './database.js';
import { SignupsService } from './signups.service.js';
import { User } from './user.entity.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...database, entities: [User], synchronize: true }),
    // It only publishes: the consumers are programs of their own.
    SqlQueueModule.forRoot({ worker: false }),
  ],
  providers: [SignupsService],
})
export class PublisherModule {}
