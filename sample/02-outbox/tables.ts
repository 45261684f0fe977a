import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Makes the application's tables where they are missing; a real one has migrations. The queue looks after its own. */
@Injectable()
export class Tables implements OnModuleInit {
  constructor(private readonly dataSource: DataSource) {}

  async onModuleInit(): Promise<void> {
    const number = this.dataSource.options.type === 'better-sqlite3' ? 'INTEGER' : 'INTEGER AUTO_INCREMENT';
    await this.dataSource.query(
      'CREATE TABLE IF NOT EXISTS sample_orders (id INTEGER PRIMARY KEY, customer VARCHAR(100) NOT NULL, total INT NOT NULL)',
    );
    await this.dataSource.query(
      `CREATE TABLE IF NOT EXISTS sample_invoices (number ${number} PRIMARY KEY, order_id INT NOT NULL, total INT NOT NULL)`,
    );
  }
}
