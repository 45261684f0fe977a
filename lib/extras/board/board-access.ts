import { Refusal } from '../dashboard/error-status.js';
import type { BoardRequest, ResolvedBoardOptions } from './board-options.js';
import { isWriteVerb, type BoardVerb } from './board-verbs.js';

/** The rights of one request. Asks `can` once per verb and queue. */
export class BoardAccess {
  readonly #answers = new Map<string, Promise<boolean>>();

  constructor(
    private readonly options: Pick<ResolvedBoardOptions, 'can' | 'readOnly' | 'user'>,
    private readonly request: BoardRequest,
  ) {}

  get isReadOnly(): boolean {
    return this.options.readOnly;
  }

  get user(): string | undefined {
    return this.options.user?.(this.request);
  }

  allows(verb: BoardVerb, queue?: string): Promise<boolean> {
    const question = `${verb} ${queue ?? ''}`;
    const known = this.#answers.get(question);
    if (known) return known;
    const answer = this.#ask(verb, queue);
    this.#answers.set(question, answer);
    return answer;
  }

  /** Those of the verbs that are allowed. */
  async allowed(verbs: readonly BoardVerb[], queue?: string): Promise<BoardVerb[]> {
    const answers = await Promise.all(verbs.map((verb) => this.allows(verb, queue)));
    return verbs.filter((_, index) => answers[index]);
  }

  /** Throws the refusal with status 403. It does not name the queue, which may be that of a job the viewer may not see. */
  async require(verb: BoardVerb, queue?: string): Promise<void> {
    if (await this.allows(verb, queue)) return;
    const where = queue === undefined ? '' : ' in this queue';
    throw new Refusal(`No right to ${verb}${where}.`, 403, 'FORBIDDEN');
  }

  /** The items of queues for which the verb is allowed. */
  async filter<Item extends { readonly queue: string }>(
    items: readonly Item[],
    verb: BoardVerb = 'read',
  ): Promise<Item[]> {
    const allowed = await Promise.all(items.map(({ queue }) => this.allows(verb, queue)));
    return items.filter((_, index) => allowed[index]);
  }

  async #ask(verb: BoardVerb, queue: string | undefined): Promise<boolean> {
    const { can, readOnly } = this.options;
    if (readOnly && isWriteVerb(verb)) return false;
    // Any other value than true is a mistake in `can`, and must not open the board.
    const answer: unknown = can ? await can(this.request, verb, queue) : true;
    return answer === true;
  }
}
