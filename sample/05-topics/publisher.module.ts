import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { databaseOptions } from '../shared/database.js';
import { SignupsService } from './signups.service.js';
import { User } from './user.entity.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...databaseOptions('./topics.sqlite'), entities: [User], synchronize: true }),
    // This process only publishes; the consumers are separate processes.
    SqlQueueModule.forRoot({ worker: false }),
  ],
  providers: [SignupsService],
})
export class PublisherModule {}
