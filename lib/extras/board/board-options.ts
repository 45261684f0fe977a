import type { CanActivate, FactoryProvider, ModuleMetadata, Type } from '@nestjs/common';
import type { Duration } from '../../common/units.js';
import { INSTANCE, ORIGINS, pathLike, REDACT, type DashboardOptions } from '../dashboard/dashboard-options.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected, requireOptions } from '../../job/expectation.js';
import {
  checked,
  durationOf,
  flag,
  func,
  kind,
  option,
  optionProblems,
  resolveOptions,
  type Resolved,
  type SchemaOf,
} from '../../job/option-schema.js';
import type { BoardVerb } from './board-verbs.js';

/** The request of Express or Fastify. Guards add to it, for example `user`. */
export interface BoardRequest {
  headers: Record<string, string | string[] | undefined>;
  // oxlint-disable-next-line typescript/no-explicit-any
  [field: string]: any;
}

/** The options of the board. One of `guards` and `can` is required. */
export interface BoardOptions extends DashboardOptions {
  /**
   * Decides on the server about each verb. `queue` is undefined for the list of workers and the checks of the database, which belong to no queue. Queues that
   * may not be read are in no list. Default: everything that the guards let in.
   */
  can?(request: BoardRequest, verb: BoardVerb, queue?: string): boolean | Promise<boolean>;
  /** The name of the user, for the audit and the page. Default: none. */
  user?(request: BoardRequest): string | undefined;
  /** The time between two updates of an open page, 1s to 1h. Default 5s. All viewers share the statistics. */
  refresh?: Duration;
}

/** Options that decide the routes. They cannot come from a factory. */
export interface BoardStaticOptions {
  /** The path of the board, below the global prefix of the application. Default `queues`. */
  path?: string;
  /** The guards of all routes of the board: classes, which Nest injects, or objects. */
  guards?: readonly (Type<CanActivate> | CanActivate)[];
  /** Modules that export the dependencies of the guards, or of the factory of the options. */
  imports?: ModuleMetadata['imports'];
  /** The `name` of the SqlQueueModule, if the application has several. */
  instance?: string;
}

/** The source of the options, beside the options that decide the routes. */
export interface BoardAsyncOptions extends BoardStaticOptions {
  useFactory: FactoryProvider<BoardOptions | Promise<BoardOptions>>['useFactory'];
  inject?: NonNullable<FactoryProvider['inject']>;
}

const PLACE = 'SqlQueueBoardModule options';
const BESIDE_FACTORY = 'decides the routes and has to stand beside useFactory';

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const OPTIONS = {
  can: option(func<NonNullable<BoardOptions['can']>>()),
  redact: REDACT,
  readOnly: option(flag, false),
  user: option(func<NonNullable<BoardOptions['user']>>()),
  origins: ORIGINS,
  refresh: option(durationOf('a duration from 1s to 1h', 1_000, 3_600_000), '5s'),
} satisfies SchemaOf<BoardOptions>;

export type ResolvedBoardOptions = Resolved<typeof OPTIONS>;

const STATIC_OPTIONS = {
  path: pathLike('ops/queues'),
  guards: option(
    kind('a list of guards', (value): value is readonly unknown[] => isList(value) && value.every(isGuard)),
  ),
  imports: option(kind('a list of modules', isList)),
  instance: INSTANCE,
} satisfies SchemaOf<BoardStaticOptions>;

const FACTORY_OPTIONS = {
  ...STATIC_OPTIONS,
  useFactory: option(func()),
  inject: checked(() => []),
} satisfies SchemaOf<BoardAsyncOptions>;

export function checkAsyncOptions(given: BoardAsyncOptions): void {
  const options = requireOptions(PLACE, given);
  InvalidOptionsError.throwIfAny(PLACE, [
    ...optionProblems(FACTORY_OPTIONS, options),
    expected(options.useFactory !== undefined, 'useFactory to be a function', options.useFactory),
  ]);
}

/** Static options and others together. */
export function checkAllOptions(given: BoardOptions & BoardStaticOptions): void {
  const options = requireOptions(PLACE, given);
  InvalidOptionsError.throwIfAny(PLACE, [
    ...optionProblems({ ...OPTIONS, ...STATIC_OPTIONS }, options),
    closedProblem(options, options.guards),
  ]);
}

/** @param guards those that stand beside the factory of the options */
export function resolveBoardOptions(given: BoardOptions, guards: BoardStaticOptions['guards']): ResolvedBoardOptions {
  const options = requireOptions(PLACE, given);
  const misplaced = Object.fromEntries(Object.keys(STATIC_OPTIONS).map((name) => [name, BESIDE_FACTORY]));
  InvalidOptionsError.throwIfAny(PLACE, [
    ...optionProblems(OPTIONS, options, { misplaced }),
    closedProblem(options, guards),
  ]);
  return resolveOptions(OPTIONS, options);
}

/** The board is closed by default, because it shows and changes all jobs. */
function closedProblem({ can }: BoardOptions, guards: BoardStaticOptions['guards']): string | undefined {
  if (can !== undefined || (isList(guards) && guards.length > 0)) return undefined;
  return (
    'expected guards or can, got none: the board would be open to everyone who reaches it. Pass guards: [YourAdminGuard], ' +
    'or can: (request, verb, queue) => …'
  );
}

function isGuard(value: unknown): boolean {
  return typeof value === 'function' || typeof (value as CanActivate | null)?.canActivate === 'function';
}
