import type { Answer } from '../sql/statement.js';
import type { BoundStatement } from '../sql/template.js';

const BEGIN: BoundStatement = { text: 'START TRANSACTION', values: [] };
const COMMIT: BoundStatement = { text: 'COMMIT', values: [] };

/** A transaction that begins along with its first step, and commits along with the last where that is known to be it. */
export class MysqlTransaction {
  #isOpen = false;
  #isOver = false;

  /** @param inDoubt told before anything is sent that commits */
  constructor(
    private readonly send: (statements: readonly BoundStatement[]) => Promise<readonly Answer[]>,
    private readonly inDoubt: () => void,
  ) {}

  async step(statements: readonly BoundStatement[], isLast: boolean): Promise<readonly Answer[]> {
    if (this.#isOver) return this.send(statements);
    const begin = this.#isOpen ? [] : [BEGIN];
    this.#isOpen = true;
    this.#isOver = isLast;
    if (isLast) this.inDoubt();
    const answers = await this.send([...begin, ...statements, ...(isLast ? [COMMIT] : [])]);
    return answers.slice(begin.length, begin.length + statements.length);
  }

  /** Commits what has not been committed. */
  async end(): Promise<void> {
    if (!this.#isOpen || this.#isOver) return;
    this.inDoubt();
    await this.send([COMMIT]);
  }
}
