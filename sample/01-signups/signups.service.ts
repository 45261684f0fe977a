import { Injectable } from '@nestjs/common';
import { QueueProducer, type EnqueuedJob } from 'nestjs-sql-queue';
import { DataSource, QueryFailedError } from 'typeorm';
import { WELCOME } from './queues.js';
import type { Signup } from './signup.js';
import { Turns } from './turns.js';
import { User } from './user.entity.js';

@Injectable()
export class SignupsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly producer: QueueProducer,
    private readonly turns: Turns,
  ) {}

  /**
   * Writes the user and enqueues the welcome mail in one transaction: there is never one without the other. Resolves to
   * undefined if the address has already signed up.
   */
  async signUp({ email, name }: Signup): Promise<EnqueuedJob | undefined> {
    try {
      return await this.turns.run(() =>
        this.dataSource.transaction(async (manager) => {
          await manager.insert(User, { email, name, signedUpAt: new Date() });
          return this.producer.enqueue(WELCOME, { email, name }, { manager });
        }),
      );
    } catch (error) {
      if (isDuplicate(error)) return undefined;
      throw error;
    }
  }
}

function isDuplicate(error: unknown): boolean {
  const code = error instanceof QueryFailedError && (error.driverError as { code?: string }).code;
  return code === 'ER_DUP_ENTRY' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}
