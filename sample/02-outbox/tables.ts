import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';

/**
 * Creates the application's tables if they are missing. A real application has migrations. The queue creates its own
 * tables.
 */
@Injectable()
export class Tables implements OnModuleInit {
  constructor(private readonly dataSource: DataSource) {}

  async onModuleInit(): Promise<void> {
    const number = this.dataSource.options.type === 'better-sqlite3' ? 'INTEGER' : 'INTEGER AUTO_INCREMENT';
    await this.dataSource.query(
      `CREATE TABLE IF NOT EXISTS sample_orders (
         id INTEGER PRIMARY KEY,
         customer VARCHAR(100) NOT NULL,
         total INT NOT NULL
       )`,
    );
    await this.dataSource.query(
      `CREATE TABLE IF NOT EXISTS sample_invoices (
         number ${number} PRIMARY KEY,
         order_id INT NOT NULL,
         total INT NOT NULL
       )`,
    );
  }
}
