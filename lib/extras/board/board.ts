import { Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { systemClock } from '../../common/clock.js';
import { BoardAccess } from './board-access.js';
import type { BoardAction, BoardParts } from './board-call.js';
import { knownError, Refusal } from '../dashboard/error-status.js';
import type { BoardRequest, ResolvedBoardOptions } from './board-options.js';
import { isWriteVerb } from './board-verbs.js';
import { BoardInput } from './input.js';
import { LiveStats } from './live-stats.js';
import { READS } from './reads.js';
import { Redactor } from '../dashboard/redactor.js';
import { checkOrigin } from './request-origin.js';
import { Throughput } from './throughput.js';
import { WRITES } from './writes.js';

export interface Answer {
  readonly status: number;
  readonly body: object;
}

const FAILED = { status: 500, code: 'INTERNAL', message: 'The board failed. The log of the server has the error.' };

/** Answers the requests of the page, whatever the HTTP framework. */
export class Board implements OnModuleInit, OnModuleDestroy {
  readonly #logger = new Logger('SqlQueueBoard');
  #parts!: BoardParts;
  live!: LiveStats;

  /** @param findParts called when all providers exist */
  constructor(
    private readonly findParts: () => Pick<BoardParts, 'admin' | 'consumer' | 'schedules'>,
    private readonly options: ResolvedBoardOptions,
  ) {}

  onModuleInit(): void {
    const parts = this.findParts();
    const redactor = new Redactor(this.options.redact);
    this.#parts = { ...parts, redactor, throughput: new Throughput(parts.admin, systemClock) };
    this.live = new LiveStats(parts.admin, systemClock, this.options.refresh, this.#logger);
  }

  /** Runs before Nest closes the HTTP server, which waits for open streams. */
  async onModuleDestroy(): Promise<void> {
    await this.live?.close();
  }

  async read(name: string, request: BoardRequest): Promise<Answer> {
    return this.#answer(async () => {
      checkOrigin('read', request, this.options.origins);
      if (!Object.hasOwn(READS, name)) throw unknown(name);
      return this.#call(READS[name]!, request, request['query'] ?? {});
    });
  }

  async write(verb: string, request: BoardRequest): Promise<Answer> {
    return this.#answer(async () => {
      checkOrigin('write', request, this.options.origins);
      if (!isWriteVerb(verb)) throw unknown(verb);
      if (this.options.readOnly) throw new Refusal('The board is read-only.', 403, 'FORBIDDEN');
      return this.#call(WRITES[verb], request, request['body']);
    });
  }

  /** The rights of the viewer of a stream, or the refusal. */
  async openStream(request: BoardRequest): Promise<BoardAccess | Answer> {
    try {
      checkOrigin('read', request, this.options.origins);
      return new BoardAccess(this.options, request);
    } catch (error) {
      return this.#failure(error);
    }
  }

  #call(action: BoardAction, request: BoardRequest, values: unknown): Promise<object> {
    const access = new BoardAccess(this.options, request);
    const { user } = access;
    const { admin, schedules, ...others } = this.#parts;
    const parts = user === undefined ? { admin, schedules } : { admin: admin.as(user), schedules: schedules.as(user) };
    return action({ ...others, ...parts, access, input: new BoardInput({ ...(values as object) }) });
  }

  async #answer(run: () => Promise<object>): Promise<Answer> {
    try {
      return { status: 200, body: await run() };
    } catch (error) {
      return this.#failure(error);
    }
  }

  #failure(error: unknown): Answer {
    const known = knownError(error);
    if (!known) this.#logger.error(error);
    const { status, code, message } = known ?? FAILED;
    return { status, body: { code, message } };
  }
}

function unknown(name: string): Refusal {
  return new Refusal(`The board has no "${name.slice(0, 80)}".`, 404, 'NOT_FOUND');
}
