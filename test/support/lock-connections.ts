import type { Connection } from 'mysql2';
import { eventually } from './eventually.js';
import { recordingDriver } from './recording-driver.js';

type Sql = (text: string) => Promise<unknown[]>;

/** The connections on which those who use its driver hold their locks. */
export class LockConnections {
  readonly #ids: number[] = [];
  readonly driver: object;

  /** @param before called with each statement, which waits for it */
  constructor(before: (sql: string) => Promise<void> = () => Promise.resolve()) {
    this.driver = recordingDriver((sql, _, connection) => {
      if (/sql_queue_locks.*FOR UPDATE$/s.test(sql)) this.#ids.push((connection as Connection).threadId);
      return before(sql);
    });
  }

  /** Ends them, and waits until the server has seen that they are gone. */
  async end(sql: Sql): Promise<void> {
    for (const id of this.#ids.splice(0)) {
      await sql(`KILL ${id}`);
      await eventually(async () => {
        return (await sql(`SELECT id FROM information_schema.processlist WHERE id = ${id}`)).length === 0;
      });
    }
  }
}
