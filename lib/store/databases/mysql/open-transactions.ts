import type { AfterQueryEvent, BeforeQueryEvent, DataSource, EntitySubscriberInterface, QueryRunner } from 'typeorm';

// Bits of the status that the server sends with the answer to a statement without rows.
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

// Statements such as ANALYZE TABLE answer with rows too, and commit.
const SINGLE_SELECT = /^\s*SELECT\b[^;]*$/i;

interface Answers {
  /** Whether the last answer shows an open transaction. */
  readonly isOpen: boolean;
  /** The statements whose answers have not arrived. */
  readonly pending: number;
}

// Does nothing, and is answered with the status. Savepoints would not do: calls of one transaction may overlap, and the
// release of one savepoint ends all later ones.
const ASK = 'DO 0';

const NO_ANSWER: Answers = { isOpen: false, pending: 0 };

/**
 * Whether the application's transactions are still open: TypeORM does not notice if a deadlock, DDL or a COMMIT of the
 * application has ended one. The answers to the application's own statements show it, so that a healthy transaction
 * needs no further statement. After any doubt the server decides.
 */
export class OpenTransactions implements EntitySubscriberInterface {
  readonly #answers = new WeakMap<QueryRunner, Answers>();

  constructor(private readonly dataSource: DataSource) {
    dataSource.subscribers.push(this);
  }

  async has(runner: QueryRunner): Promise<boolean> {
    const { isOpen, pending } = this.#of(runner);
    return (isOpen && pending === 0) || (isOpenBy(await runner.query(ASK)) ?? false);
  }

  beforeQuery({ queryRunner }: BeforeQueryEvent): void {
    const { isOpen, pending } = this.#of(queryRunner);
    this.#answers.set(queryRunner, { isOpen, pending: pending + 1 });
  }

  afterQuery({ queryRunner, query, success, rawResults }: AfterQueryEvent): void {
    const { isOpen, pending } = this.#of(queryRunner);
    const isStillOpen = success && (isOpenBy(rawResults) ?? (isOpen && SINGLE_SELECT.test(query)));
    this.#answers.set(queryRunner, { isOpen: isStillOpen, pending: Math.max(0, pending - 1) });
  }

  stop(): void {
    const { subscribers } = this.dataSource;
    const index = subscribers.indexOf(this);
    if (index >= 0) subscribers.splice(index, 1);
  }

  #of(runner: QueryRunner): Answers {
    return this.#answers.get(runner) ?? NO_ANSWER;
  }
}

/** Undefined if the driver reports no status, as for rows. */
function isOpenBy(answer: unknown): boolean | undefined {
  if (Array.isArray(answer)) return undefined;
  const { serverStatus } = (answer ?? {}) as { serverStatus?: number };
  if (typeof serverStatus !== 'number') return undefined;
  return (serverStatus & IN_TRANSACTION) > 0 || (serverStatus & AUTOCOMMIT) === 0;
}
