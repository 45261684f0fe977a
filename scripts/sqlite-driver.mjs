// better-sqlite3 13, which npm installs in node_modules, needs Node-API 10 (Node 22.14). Older Node runs version 12.
import { existsSync } from 'node:fs';
import { readFile, rm, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const installed = join(root, 'node_modules/better-sqlite3');
const older = join(root, 'test/sqlite-node20/node_modules/better-sqlite3');

/** Makes `better-sqlite3` resolve to the version that this Node can load. */
export async function provideSqliteDriver() {
  if (Number(process.versions.napi) >= 10 || !existsSync(older) || (await versionOf(installed))?.startsWith('12.'))
    return;
  await rm(installed, { recursive: true, force: true });
  await symlink(older, installed, 'dir');
}

function versionOf(folder) {
  return readFile(join(folder, 'package.json'), 'utf8').then(
    (text) => JSON.parse(text).version,
    () => undefined,
  );
}
