import type { HttpServer } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { InvalidOptionsError } from '../../job/errors.js';
import { PLACE, type BullBoardMiddleware } from './bull-board-options.js';

type Hook = (request: { raw: unknown }, reply: { raw: ServerResponse }, done: (error?: unknown) => void) => void;

/** The parts of Fastify that the library calls. */
interface FastifyScope {
  register(plugin: unknown, options?: { prefix: string }): unknown;
  addHook(name: 'preHandler', hook: Hook): unknown;
}

/** The parts of both server adapters. */
interface MountableAdapter {
  setBasePath(path: string): unknown;
  getRouter?(): unknown;
  registerPlugin?(): unknown;
}

const ADAPTERS: Readonly<Record<string, string>> = {
  express: 'ExpressAdapter of @bull-board/express',
  fastify: 'FastifyAdapter of @bull-board/fastify',
};

/** Serves bull-board below the path, behind the middleware. */
export function mount(
  http: HttpServer,
  adapter: MountableAdapter,
  path: string,
  middleware: readonly BullBoardMiddleware[],
): void {
  const type = http.getType();
  const [router, plugin] = [adapter.getRouter?.bind(adapter), adapter.registerPlugin?.bind(adapter)];
  if (type === 'express' && router) {
    (http.getInstance() as { use(...handlers: unknown[]): void }).use(path, ...middleware, router());
    return;
  }
  if (type === 'fastify' && plugin) {
    const mounted = (scope: FastifyScope, _options: unknown, done: () => void) => {
      for (const each of middleware) scope.addHook('preHandler', hookOf(each));
      scope.register(plugin());
      done();
    };
    (http.getInstance() as FastifyScope).register(mounted, { prefix: path });
    return;
  }
  throw new InvalidOptionsError(PLACE, [
    `expected adapter to be ${ADAPTERS[type] ?? 'one of Express or Fastify'}, because the application runs on ${type}`,
  ]);
}

/** Hooks run after the body is read, so that the user of the request is known in the handlers. */
function hookOf(middleware: BullBoardMiddleware): Hook {
  const run = async (...[request, reply, done]: Parameters<Hook>) => {
    try {
      await middleware(request.raw, reply.raw, done);
    } catch (error) {
      done(error);
    }
  };
  return (request, reply, done) => void run(request, reply, done);
}
