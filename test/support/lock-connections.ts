import type { Connection } from 'mysql2';
import { eventually } from './eventually.js';
import { interceptingDriver } from './intercepting-driver.js';

type Sql = (text: string) => Promise<unknown[]>;

/** The connections that hold the worker locks of the users of its driver. */
export class LockConnections {
  readonly #ids: number[] = [];
  readonly driver: object;

  /** @param before receives each statement and delays it until it resolves */
  constructor(before: (sql: string) => Promise<void> = () => Promise.resolve()) {
    this.driver = interceptingDriver((sql, _, connection) => {
      if (/sql_queue_locks.*FOR UPDATE$/s.test(sql)) this.#ids.push((connection as Connection).threadId);
      return before(sql);
    });
  }

  /** Kills the connections, and waits until the server has closed them. */
  async end(sql: Sql): Promise<void> {
    for (const id of this.#ids.splice(0)) {
      await sql(`KILL ${id}`);
      await eventually(async () => {
        return (await sql(`SELECT id FROM information_schema.processlist WHERE id = ${id}`)).length === 0;
      });
    }
  }
}
