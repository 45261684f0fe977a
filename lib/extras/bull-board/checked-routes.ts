import type { AppControllerRoute, BullBoardRequest, ControllerHandlerReturnType } from '@bull-board/api/typings/app';
import { knownError, Refusal } from '../dashboard/error-status.js';
import { foreignOriginProblem } from '../dashboard/request-origin.js';
import type { QueueAdapter } from './queue-adapter.js';
import { MAX_LISTED } from './queue-overview.js';

type Answer = ControllerHandlerReturnType<any>;

const LIST_QUEUES = '/api/queues';
const RETRY_ALL = '/api/queues/:queueName/retry/:queueStatus';

interface Parts {
  /** One for each queue to show. */
  readonly adapters: () => Promise<QueueAdapter[]>;
  readonly origins: readonly string[];
  /** Makes bull-board show these queues. */
  readonly show: (adapters: QueueAdapter[]) => void;
  readonly logger: { error(message: unknown): void };
}

/** Puts checks around the routes of bull-board, and replaces those that would ask for each job by itself. */
export class CheckedRoutes {
  constructor(private readonly parts: Parts) {}

  wrap(routes: readonly AppControllerRoute[]): AppControllerRoute[] {
    return routes.map((route) => ({ ...route, handler: (request) => this.#answer(route, request!) }));
  }

  async #answer(route: AppControllerRoute, request: BullBoardRequest): Promise<Answer> {
    try {
      this.#checkOrigin(request);
      const adapters = await this.parts.adapters();
      this.parts.show(adapters);
      if (route.route === RETRY_ALL) return await this.#retryAll(adapters, route, request);
      const answer = await route.handler(request);
      return route.route === LIST_QUEUES ? withReachablePages(answer, request) : answer;
    } catch (error) {
      return this.#failure(error);
    }
  }

  #checkOrigin({ headers }: BullBoardRequest): void {
    // Changes are no exception: programs may send them without an Origin, and browsers always send one with them.
    const problem = foreignOriginProblem('read', headers, this.parts.origins);
    if (problem !== undefined) throw new Refusal(`bull-board takes requests of its own page only: ${problem}.`, 403);
  }

  /** By one filter. The route of bull-board would retry each job in a transaction of its own. */
  async #retryAll(adapters: QueueAdapter[], route: AppControllerRoute, request: BullBoardRequest): Promise<Answer> {
    const { queueName, queueStatus } = request.params as { queueName: string; queueStatus: string };
    const queue = adapters.find((adapter) => adapter.getName() === queueName);
    const isRetriable = queueStatus === 'failed' || queueStatus === 'completed';
    // bull-board refuses these itself.
    if (!queue || queue.readOnlyMode || !isRetriable) return route.handler(request);
    return { status: 200, body: { retried: await queue.retryAll(queueStatus), skipped: 0 } };
  }

  #failure(error: unknown): Answer {
    const known = knownError(error);
    if (known) return answerOf(known.status, known.message);
    this.parts.logger.error(error);
    return answerOf(500, 'bull-board failed. The log of the server has the error.');
  }
}

function answerOf(status: number, message: string): Answer {
  const key = status === 403 ? 'ERRORS.FORBIDDEN' : 'ERRORS.INTERNAL_SERVER_ERROR';
  return { status: status as 500, body: { error: { key }, message } };
}

/** Offers only pages that can be listed. The counts go beyond them. */
function withReachablePages(answer: Answer, request: BullBoardRequest): Answer {
  const { queues } = answer.body as { queues?: { pagination: { pageCount: number } }[] };
  const perPage = Number((request.query as { jobsPerPage?: unknown }).jobsPerPage) || 10;
  for (const { pagination } of queues ?? []) {
    pagination.pageCount = Math.min(pagination.pageCount, Math.ceil(MAX_LISTED / perPage));
  }
  return answer;
}
