import { Refusal } from '../dashboard/error-status.js';
import type { BoardRequest, ResolvedBoardOptions } from './board-options.js';
import { isWriteVerb, type BoardVerb } from './board-verbs.js';

/** The rights of one request. Asks `can` once per verb and queue. */
export class BoardAccess {
  // A live stream has its rights for minutes, to thousands of queues: no promise and no text of its own per answer.
  readonly #answers = new Map<BoardVerb, Map<string | undefined, boolean | Promise<boolean>>>();

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

  async allows(verb: BoardVerb, queue?: string): Promise<boolean> {
    const { can, readOnly } = this.options;
    if (readOnly && isWriteVerb(verb)) return false;
    if (!can) return true;
    let answers = this.#answers.get(verb);
    if (!answers) this.#answers.set(verb, (answers = new Map()));
    const known = answers.get(queue);
    if (known !== undefined) return known;
    const asked = ask(can, this.request, verb, queue);
    answers.set(queue, asked);
    const answer = await asked;
    answers.set(queue, answer);
    return answer;
  }

  /** Those of the verbs that are allowed. */
  allowed(verbs: readonly BoardVerb[], queue?: string): Promise<BoardVerb[]> {
    return filterAsync(verbs, (verb) => this.allows(verb, queue));
  }

  /** Throws the refusal with status 403. It does not name the queue, which may be that of a job the viewer may not see. */
  async require(verb: BoardVerb, queue?: string): Promise<void> {
    if (await this.allows(verb, queue)) return;
    const where = queue === undefined ? '' : ' in this queue';
    throw new Refusal(`No right to ${verb}${where}.`, 403, 'FORBIDDEN');
  }

  /** The items for whose queue the verb is allowed. Null: an item without a queue. */
  filter<Item extends { readonly queue: string | null }>(
    items: readonly Item[],
    verb: BoardVerb = 'read',
  ): Promise<Item[]> {
    return filterAsync(items, ({ queue }) => this.allows(verb, queue ?? undefined));
  }
}

/** The items for which the test resolves with true. Tests all of them at the same time. */
export async function filterAsync<Item>(
  items: readonly Item[],
  test: (item: Item) => Promise<boolean>,
): Promise<Item[]> {
  const passes = await Promise.all(items.map((item) => test(item)));
  return items.filter((_, index) => passes[index]);
}

async function ask(
  can: NonNullable<ResolvedBoardOptions['can']>,
  request: BoardRequest,
  verb: BoardVerb,
  queue: string | undefined,
): Promise<boolean> {
  // Any other value than true is a mistake in `can`, and must not open the board.
  const answer: unknown = await can(request, verb, queue);
  return answer === true;
}
