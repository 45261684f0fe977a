import {
  Controller,
  Get,
  Inject,
  Post,
  Req,
  Res,
  StreamableFile,
  UseGuards,
  VERSION_NEUTRAL,
  type Type,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { systemClock } from '../../common/clock.js';
import { BoardAccess } from './board-access.js';
import type { Board } from './board.js';
import type { BoardRequest, BoardStaticOptions } from './board-options.js';
import { streamLive } from './live-stream.js';
import { contentOf, formFor, isKept, pageFiles, pageHtml } from './page-files.js';

const SECURITY_HEADERS = {
  'content-security-policy':
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; ` +
    `frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The parts of a response of Fastify that Express lacks. */
interface RawResponse {
  readonly raw?: ServerResponse;
  hijack?(): void;
}

/**
 * The controller of one board. Its methods answer by the adapter instead of returning, so that interceptors and pipes of the
 * application, which may wrap answers, do not change them.
 */
export function boardController(
  token: string,
  path: string,
  guards: NonNullable<BoardStaticOptions['guards']>,
): Type<unknown> {
  const folder = path.split('/').at(-1)!;

  @UseGuards(...guards)
  @Controller({ path, version: VERSION_NEUTRAL })
  class SqlQueueBoardController {
    constructor(
      @Inject(token) private readonly board: Board,
      private readonly host: HttpAdapterHost,
    ) {}

    @Get()
    page(@Req() request: object, @Res() response: object): void {
      const { originalUrl = '' } = request as { originalUrl?: string };
      // The scripts are below the page, whether its URL ends with a slash or not.
      const base = originalUrl.split('?')[0]!.endsWith('/') ? '' : `${folder}/`;
      this.#send(response, 200, 'text/html; charset=utf-8', pageHtml(base));
    }

    @Get(':file')
    async file(@Req() request: object, @Res() response: object): Promise<void> {
      const { byName, version } = pageFiles();
      const file = byName.get(paramOf(request, 'file'));
      if (!file) {
        this.#json(response, 404, { code: 'NOT_FOUND', message: 'The board has no such file.' });
        return;
      }
      const { query, headers: asked } = request as { query?: { v?: unknown }; headers: IncomingHttpHeaders };
      const form = formFor(asked['accept-encoding']);
      // The guards decide about the page, and its script has no secret.
      const cache = query?.v === version ? 'private, max-age=31536000, immutable' : 'no-cache';
      const headers = { 'cache-control': cache, ...form.headers };
      if (isKept(asked['if-none-match'], form)) {
        this.#send(response, 304, file.type, undefined, headers);
        return;
      }
      const content = await contentOf(file, form);
      // Express would send a buffer as JSON.
      this.#send(
        response,
        200,
        file.type,
        typeof content === 'string' ? content : new StreamableFile(content),
        headers,
      );
    }

    @Get('api/live')
    async live(@Req() request: object, @Res() response: object): Promise<void> {
      const access = await this.board.openStream(request as BoardRequest);
      if (!(access instanceof BoardAccess)) {
        this.#json(response, access.status, access.body);
        return;
      }
      const { raw, hijack } = response as RawResponse;
      hijack?.call(response);
      streamLive(raw ?? (response as ServerResponse), SECURITY_HEADERS, access, this.board.live, systemClock);
    }

    @Get('api/:read')
    async read(@Req() request: object, @Res() response: object): Promise<void> {
      const { status, body } = await this.board.read(paramOf(request, 'read'), request as BoardRequest);
      this.#json(response, status, body);
    }

    @Post('api/:verb')
    async write(@Req() request: object, @Res() response: object): Promise<void> {
      const { status, body } = await this.board.write(paramOf(request, 'verb'), request as BoardRequest);
      this.#json(response, status, body);
    }

    #json(response: object, status: number, body: object): void {
      this.#send(response, status, 'application/json; charset=utf-8', JSON.stringify(body));
    }

    #send(
      response: object,
      status: number,
      type: string,
      body: unknown,
      others: Readonly<Record<string, string>> = {},
    ): void {
      const { httpAdapter } = this.host;
      const end = this.board.isClosing ? { connection: 'close' } : {};
      const headers = { ...SECURITY_HEADERS, ...end, 'content-type': type, 'cache-control': 'no-store', ...others };
      for (const [name, value] of Object.entries(headers)) httpAdapter.setHeader(response, name, value);
      httpAdapter.reply(response, body, status);
    }
  }
  return SqlQueueBoardController;
}

function paramOf(request: object, name: string): string {
  return String((request as { params: Record<string, unknown> }).params[name]);
}
