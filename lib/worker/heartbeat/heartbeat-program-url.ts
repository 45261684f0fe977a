import { existsSync } from 'node:fs';
import { InvalidOptionsError } from '../../job/errors.js';

// Undefined if an application bundles the ES modules as CommonJS. Our own CommonJS files have __filename instead.
const ownUrl = import.meta.url as string | URL | undefined;

/**
 * The program of the heartbeat thread. The name of its file is long, so that a file of an application beside a bundle is not
 * taken for it.
 *
 * @throws InvalidOptionsError if the file is not there, because a bundler has moved the library into another file
 */
export function heartbeatProgram(): URL {
  const url = ownUrl === undefined ? undefined : new URL('./heartbeat-program.js', ownUrl);
  if (url?.protocol === 'file:' && existsSync(url)) return url;
  throw new InvalidOptionsError('SqlQueueModule options', [
    `worker: expected for heartbeat 'thread' the file heartbeat-program.js of the library, got none: a bundler has moved the ` +
      `library into another file. Keep nestjs-sql-queue out of the bundle (\`external\`), or leave out \`heartbeat\``,
  ]);
}
