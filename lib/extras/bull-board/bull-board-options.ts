import type { IncomingMessage, ServerResponse } from 'node:http';
import { INSTANCE, ORIGINS, pathLike, REDACT, type DashboardOptions } from '../dashboard/dashboard-options.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected, isOptions, requireOptions } from '../../job/expectation.js';
import { nameProblem } from '../../job/identifiers.js';
import {
  checked,
  flag,
  func,
  kind,
  option,
  optionProblems,
  resolveOptions,
  type Resolved,
  type SchemaOf,
} from '../../job/option-schema.js';

/** The request of Express, or the raw request of Fastify. Middleware adds to it, for example `user`. */
export type BullBoardRequest = IncomingMessage & {
  // oxlint-disable-next-line typescript/no-explicit-any
  [field: string]: any;
};

/** Calls `next()` to let the request in. Otherwise it ends the response, or calls `next(error)`. */
export type BullBoardMiddleware = (
  // oxlint-disable-next-line typescript/no-explicit-any
  request: any,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => unknown;

/** `ExpressAdapter` of `@bull-board/express` or `FastifyAdapter` of `@bull-board/fastify`. */
export interface BullBoardServerAdapter {
  setBasePath(path: string): unknown;
  // oxlint-disable-next-line typescript/no-explicit-any
  setApiRoutes(routes: any): unknown;
}

/** The options of bull-board. */
export interface BullBoardOptions extends DashboardOptions {
  /** The path of bull-board, below the global prefix of the application, such as `admin/queues`. */
  route: string;
  /** `ExpressAdapter` of `@bull-board/express` or `FastifyAdapter` of `@bull-board/fastify`: the class. */
  adapter: new () => BullBoardServerAdapter;
  /**
   * Runs before each request, in this order. Guards of Nest do not apply to bull-board: one of the functions must check
   * the rights of the caller. An empty list opens bull-board to everyone who reaches it.
   */
  middleware: readonly BullBoardMiddleware[];
  /** The queues to show. Default: all queues of the database, also those that appear later. */
  queues?: readonly string[];
  /** The name of the user in the audit, 1 to 255 characters. Default `bull-board`. */
  user?(request: BullBoardRequest): string | undefined;
  /** The `uiConfig` of bull-board, for example `{ boardTitle: 'Queues' }`. */
  uiConfig?: Readonly<Record<string, unknown>>;
  /** The `name` of the SqlQueueModule, if the application has several. */
  instance?: string;
}

export const PLACE = 'SqlQueueBullBoardModule.forRoot()';

const isFunction = (value: unknown): boolean => typeof value === 'function';

const OPTIONS = {
  route: pathLike('admin/queues'),
  adapter: option(kind('the class ExpressAdapter or FastifyAdapter of bull-board', isAdapter)),
  middleware: option(
    kind('a list of functions', (value): value is readonly BullBoardMiddleware[] =>
      Array.isArray(value) ? value.every(isFunction) : false,
    ),
  ),
  queues: checked<readonly string[] | undefined>((queues) =>
    Array.isArray(queues)
      ? queues.map((queue) => nameProblem('queue name', queue))
      : [expected(false, 'queues to be a list of names of queues', queues)],
  ),
  readOnly: option(flag, false),
  redact: REDACT,
  user: option(func<NonNullable<BullBoardOptions['user']>>()),
  origins: ORIGINS,
  uiConfig: option(
    kind('the uiConfig of bull-board', (value): value is Readonly<Record<string, unknown>> => isOptions(value)),
    {},
  ),
  instance: INSTANCE,
} satisfies SchemaOf<BullBoardOptions>;

export type ResolvedBullBoardOptions = Resolved<typeof OPTIONS> &
  Pick<BullBoardOptions, 'route' | 'adapter' | 'middleware'>;

export function resolveBullBoardOptions(given: BullBoardOptions): ResolvedBullBoardOptions {
  const options = requireOptions(PLACE, given);
  const { route, adapter, middleware } = options;
  InvalidOptionsError.throwIfAny(PLACE, [
    ...optionProblems(OPTIONS, options),
    expected(route !== undefined, 'route to be a path such as admin/queues', route),
    expected(adapter !== undefined, 'adapter to be the class ExpressAdapter or FastifyAdapter of bull-board', adapter),
    middleware === undefined
      ? 'expected middleware, got none: bull-board would be open to everyone who reaches it. ' +
        'Pass middleware: [yourCheck], or an empty list if a proxy protects the route'
      : undefined,
  ]);
  return resolveOptions(OPTIONS, options) as ResolvedBullBoardOptions;
}

function isAdapter(value: unknown): value is BullBoardOptions['adapter'] {
  if (typeof value !== 'function') return false;
  const methods = value.prototype as Partial<BullBoardServerAdapter> | undefined;
  return isFunction(methods?.setBasePath) && isFunction(methods?.setApiRoutes);
}
