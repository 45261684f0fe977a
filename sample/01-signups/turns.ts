import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/**
 * Lets transactions begin one after the other on SQLite. TypeORM has a single connection to the file, on which a second
 * transaction would become a part of the first, and be undone with it. On a server each has a connection of its own.
 */
@Injectable()
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly dataSource: DataSource) {}

  take<T>(work: () => Promise<T>): Promise<T> {
    if (this.dataSource.options.type !== 'better-sqlite3') return work();
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
