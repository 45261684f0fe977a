import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';

/**
 * Makes the table where it is missing. By hand, because two processes of a sample may start at the same moment, which
 * `synchronize` does not stand; a real application has a migration. The queue looks after its own tables.
 */
@Injectable()
export class UsersTable implements OnModuleInit {
  constructor(private readonly dataSource: DataSource) {}

  async onModuleInit(): Promise<void> {
    const onServer = this.dataSource.options.type !== 'better-sqlite3';
    await this.dataSource.query(
      `CREATE TABLE IF NOT EXISTS sample_users (
         email VARCHAR(254) NOT NULL PRIMARY KEY,
         name VARCHAR(100) NOT NULL,
         signed_up_at DATETIME NOT NULL
       ) ${onServer ? 'CHARACTER SET utf8mb4' : ''}`,
    );
  }
}
