import { keyIdOf, readKeys, UNUSED_KEY_RETENTION_MS, type KeyName } from './key-rows.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';

/**
 * The INSERT of a row that another process has created and a caller's transaction has locked waits for that
 * transaction. For each key at most one call of this process waits in the database; the others wait here.
 */
export class KeyRowCreator {
  readonly #pending = new Map<string, Promise<void>>();

  /** @param blocking a database whose statements may wait for locks of the application */
  constructor(
    private readonly blocking: Pick<SqlDatabase, 'runIdempotent'>,
    private readonly dialect: Pick<Dialect, 'addKeys'>,
  ) {}

  /** Resolves when the rows of all keys exist. `create` gets those keys for which no other call is under way. */
  async createOnce(keys: readonly KeyName[], create: (keys: readonly KeyName[]) => Promise<void>): Promise<void> {
    const pending = new Set<Promise<void>>();
    const own: KeyName[] = [];
    for (const key of keys) {
      const creating = this.#pending.get(keyIdOf(key));
      if (creating) pending.add(creating);
      else own.push(key);
    }
    if (own.length > 0) pending.add(this.#startCreation(own, create));
    await Promise.all(pending);
  }

  /** Inserts the rows that do not exist yet. */
  async insertRows(keys: readonly KeyName[]): Promise<void> {
    const { dialect } = this;
    let isRetry = false;
    await this.blocking.runIdempotent(function* () {
      // A timeout of the INSERT means that a row exists and is locked. Another INSERT would wait for the same lock.
      const rows = isRetry ? yield* readKeys(keys) : undefined;
      const missing = rows ? keys.filter((key) => !rows.has(keyIdOf(key))) : keys;
      isRetry = true;
      if (missing.length > 0) yield* dialect.addKeys(missing, UNUSED_KEY_RETENTION_MS);
    });
  }

  #startCreation(keys: readonly KeyName[], create: (keys: readonly KeyName[]) => Promise<void>): Promise<void> {
    const creating = create(keys).finally(() => {
      for (const key of keys) this.#pending.delete(keyIdOf(key));
    });
    for (const key of keys) this.#pending.set(keyIdOf(key), creating);
    return creating;
  }
}
