import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';

/**
 * Creates the table if it is missing. `synchronize` fails if two processes of a sample start at the same time; a real
 * application has a migration. The queue creates its own tables.
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
