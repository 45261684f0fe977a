import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { InvalidOptionsError } from '../../job/errors.js';

// Undefined if an application bundles the ES modules as CommonJS. Our own CommonJS files have __filename instead.
const ownUrl = import.meta.url as string | URL | undefined;

/**
 * The folder with the files of the page.
 *
 * @throws InvalidOptionsError if it is not there, because a bundler has moved the library into another file
 */
export function pageFolder(): string {
  const folder = ownUrl === undefined ? undefined : new URL('page/', ownUrl);
  if (folder?.protocol === 'file:' && existsSync(new URL('board.html', folder))) return fileURLToPath(folder);
  throw new InvalidOptionsError('SqlQueueBoardModule', [
    'expected the files of the board beside its code, got none: a bundler has moved the library into another file. Keep ' +
      'nestjs-sql-queue out of the bundle (`external`)',
  ]);
}
