import { Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { systemClock } from '../../common/clock.js';
import { BoardAccess } from './board-access.js';
import type { BoardAction, BoardParts } from './board-call.js';
import { NestJobLogger } from '../../nest/nest-job-logger.js';
import { knownError, Refusal, type KnownError } from '../dashboard/error-status.js';
import type { BoardRequest, ResolvedBoardOptions } from './board-options.js';
import { isWriteVerb } from './board-verbs.js';
import { BoardInput } from './input.js';
import { DeadJobGroups } from './error-groups.js';
import { LiveStats } from './live-stats.js';
import { READS } from './reads.js';
import { Redactor } from '../dashboard/redactor.js';
import { SharedErrors } from './shared-errors.js';
import { SharedRead } from './shared-read.js';
import { checkOrigin } from './request-origin.js';
import { Throughput } from './throughput.js';
import { WRITES } from './writes.js';

export interface Answer {
  readonly status: number;
  readonly body: object;
}

// The checks send dozens of statements, and pages are opened often.
const DIAGNOSES_MS = 60_000;
const HISTORY_MS = 30_000;

const LOG_CONTEXT = 'SqlQueueBoard';

const FAILED = { status: 500, code: 'INTERNAL', message: 'The board failed. The log of the server has the error.' };

/** Answers the requests of the page, whatever the HTTP framework. */
export class Board implements OnModuleInit, OnModuleDestroy {
  readonly #logger = new Logger(LOG_CONTEXT);
  #parts!: BoardParts;
  live!: LiveStats;
  #isClosing = false;

  /** @param findParts called when all providers exist */
  constructor(
    private readonly findParts: () => Pick<BoardParts, 'admin' | 'consumer' | 'schedules'>,
    private readonly options: ResolvedBoardOptions,
  ) {}

  onModuleInit(): void {
    const parts = this.findParts();
    const redactor = new Redactor(this.options.redact);
    const { admin } = parts;
    this.#parts = {
      ...{ ...parts, redactor },
      throughput: new Throughput(admin, systemClock),
      problems: new SharedRead(() => admin.problems(), this.options.refresh, systemClock),
      workers: new SharedRead(() => admin.workers(), this.options.refresh, systemClock),
      diagnoses: new SharedRead(() => admin.diagnoses(), DIAGNOSES_MS, systemClock),
      errors: new SharedErrors(admin, redactor, systemClock),
      deadJobs: new DeadJobGroups(admin, redactor, systemClock),
      history: new SharedRead(({ queues, step }) => admin.history(queues, { step }), HISTORY_MS, systemClock),
    };
    this.live = new LiveStats(parts.admin, systemClock, this.options.refresh, new NestJobLogger(LOG_CONTEXT));
  }

  /** The HTTP server waits for its connections, and an open page would use them for ever. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Runs before Nest closes the HTTP server, which waits for open streams. */
  async onModuleDestroy(): Promise<void> {
    this.#isClosing = true;
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
      const answer = await this.#call(WRITES[verb], request, request['body']);
      // The page that has sent it reads the problems and dead jobs next.
      this.#parts.problems.clear();
      this.#parts.deadJobs.clear();
      return answer;
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
    const { status, code, message, problems }: KnownError = known ?? FAILED;
    return { status, body: { code, message, ...(problems && { problems }) } };
  }
}

function unknown(name: string): Refusal {
  return new Refusal(`The board has no "${name.slice(0, 80)}".`, 404, 'NOT_FOUND');
}
