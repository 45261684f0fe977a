import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/**
 * Runs transactions one after the other on SQLite. TypeORM has a single connection to the file, on which a second
 * transaction would become a part of the first and roll back with it. On a server each transaction has its own
 * connection.
 */
@Injectable()
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly dataSource: DataSource) {}

  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.dataSource.options.type !== 'better-sqlite3') return work();
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
