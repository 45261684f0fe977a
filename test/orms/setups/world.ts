import type { QueueProducer } from 'nestjs-sql-queue';
import type { DataSource } from 'typeorm';

/** A database with a table `user`, and the producer of its queue. */
export interface World {
  readonly type: 'mysql' | 'mariadb' | 'better-sqlite3';
  /** The URL of a server, or the path of a SQLite file. */
  readonly place: string;
  /** The connections of the queue. */
  readonly dataSource: DataSource;
  readonly producer: QueueProducer;
}

/** The example of one ORM. */
export interface Example {
  signUp(email: string): Promise<void>;
  close(): Promise<unknown>;
}

/** Connects an ORM. */
export type Connect = (world: World) => Promise<Example>;

/** The parts of a URL, for drivers that take none. */
export function partsOf(place: string) {
  const { hostname: host, port, username: user, password, pathname } = new URL(place);
  return { host, port: Number(port || 3306), user, password, database: pathname.slice(1) };
}
