import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { InvalidOptionsError } from '../job/errors.js';

// Undefined in a bundle of CommonJS. For CommonJS the build replaces import.meta with __filename.
// @ts-ignore TS1343 when this file is compiled to CommonJS.
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
