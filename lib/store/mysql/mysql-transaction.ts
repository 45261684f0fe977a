import type { StatementResult } from '../core/statement.js';
import type { BoundStatement } from '../core/template.js';

const BEGIN: BoundStatement = { text: 'START TRANSACTION', values: [] };
const COMMIT: BoundStatement = { text: 'COMMIT', values: [] };

/** A transaction that sends BEGIN with its first step, and COMMIT with its last step if the work marks it. */
export class MysqlTransaction {
  #isOpen = false;
  #isCommitted = false;

  /** @param inDoubt called before a COMMIT is sent */
  constructor(
    private readonly send: (statements: readonly BoundStatement[]) => Promise<readonly StatementResult[]>,
    private readonly inDoubt: () => void,
  ) {}

  async step(statements: readonly BoundStatement[], isLast: boolean): Promise<readonly StatementResult[]> {
    if (this.#isCommitted) return this.send(statements);
    const begin = this.#isOpen ? [] : [BEGIN];
    this.#isOpen = true;
    this.#isCommitted = isLast;
    if (isLast) this.inDoubt();
    const results = await this.send([...begin, ...statements, ...(isLast ? [COMMIT] : [])]);
    return results.slice(begin.length, begin.length + statements.length);
  }

  async commit(): Promise<void> {
    if (!this.#isOpen || this.#isCommitted) return;
    this.inDoubt();
    await this.send([COMMIT]);
  }
}
