import { Injectable } from '@nestjs/common';
import { QueueProducer } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { User } from './user.entity.js';

/** The message to the consumers. */
export type UserCreated = Pick<User, 'id' | 'email'>;

/** Publishes without knowing the consumers. */
@Injectable()
export class SignupsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly producer: QueueProducer,
  ) {}

  /** Writes the user and the copies of the message in one transaction: there is never one without the others. */
  async signUp(user: User): Promise<void> {
    const { id, email, region } = user;
    await this.dataSource.transaction(async (manager) => {
      await manager.insert(User, user);
      const message: UserCreated = { id, email };
      await this.producer.publish('user.created', message, { headers: { region }, manager });
    });
  }

  /** The number of users. */
  count(): Promise<number> {
    return this.dataSource.manager.countBy(User, {});
  }
}
