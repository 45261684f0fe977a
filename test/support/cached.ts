import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/nestjs-sql-queue');
const STALE_MS = 3_600_000;

/**
 * Returns a folder with the build of these texts, which are given by path. The folder is named after their hash and
 * renamed into place when it is complete, so concurrent test files can request it.
 *
 * @param make fills the empty folder it receives
 */
export async function cached(
  kind: string,
  texts: ReadonlyMap<string, string>,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const digest = createHash('sha1');
  for (const [path, text] of texts) digest.update(path).update(text);
  const folder = join(CACHE, `${kind}-${digest.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) {
    // It is not stale, because this run uses it.
    await utimes(folder, new Date(), new Date());
    return folder;
  }
  const growing = `${folder}.${randomUUID()}`;
  await mkdir(growing, { recursive: true });
  await make(growing);
  await rename(growing, folder).catch(() => rm(growing, { recursive: true }));
  await deleteStale();
  return folder;
}

async function deleteStale(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const folder = join(CACHE, name);
    const age = await stat(folder).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > STALE_MS) await rm(folder, { recursive: true, force: true });
  }
}
