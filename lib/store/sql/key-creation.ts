import type { Dialect } from './dialect.js';
import { idOf, lookAtKeys, type KeyName } from './key-rows.js';
import type { SqlDatabase } from './sql-database.js';

/**
 * Creates the rows of keys. The INSERT of a row that another process has created and a caller's transaction has locked
 * waits for that transaction. For each key at most one call of this process waits in the database; the others wait here.
 */
export class KeyCreation {
  readonly #underWay = new Map<string, Promise<void>>();

  /** @param blocking may wait for locks of the application */
  constructor(
    private readonly blocking: Pick<SqlDatabase, 'repeatable'>,
    private readonly dialect: Pick<Dialect, 'addKeys'>,
  ) {}

  /** Resolves when the rows of all keys exist. `create` gets those keys for which no other call is under way. */
  async once(keys: readonly KeyName[], create: (keys: readonly KeyName[]) => Promise<void>): Promise<void> {
    const underWay = new Set<Promise<void>>();
    const own: KeyName[] = [];
    for (const key of keys) {
      const other = this.#underWay.get(idOf(key));
      if (other) underWay.add(other);
      else own.push(key);
    }
    if (own.length > 0) underWay.add(this.#begin(own, create));
    await Promise.all(underWay);
  }

  /** Adds the rows, each of which may exist by now. */
  async add(keys: readonly KeyName[]): Promise<void> {
    const { dialect } = this;
    let isRetry = false;
    await this.blocking.repeatable(function* () {
      // A timeout of the INSERT means that a row exists and is locked. Another INSERT would wait for the same lock.
      const rows = isRetry ? yield* lookAtKeys(keys) : undefined;
      const missing = rows ? keys.filter((key) => !rows.has(idOf(key))) : keys;
      isRetry = true;
      if (missing.length > 0) yield* dialect.addKeys(missing);
    });
  }

  #begin(keys: readonly KeyName[], create: (keys: readonly KeyName[]) => Promise<void>): Promise<void> {
    const creating = create(keys).finally(() => {
      for (const key of keys) this.#underWay.delete(idOf(key));
    });
    for (const key of keys) this.#underWay.set(idOf(key), creating);
    return creating;
  }
}
