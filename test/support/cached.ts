import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/nestjs-sql-queue');
const STALE_MS = 3_600_000;

/**
 * The folder of what is made of these texts, by their paths. Named after them and moved into place when it is whole, so that
 * any number of test files may want it at once.
 *
 * @param make fills the folder it is given, which is there and empty
 */
export async function cached(
  what: string,
  texts: ReadonlyMap<string, string>,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const digest = createHash('sha1');
  for (const [path, text] of texts) digest.update(path).update(text);
  const folder = join(CACHE, `${what}-${digest.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  const growing = `${folder}.${randomUUID()}`;
  await mkdir(growing, { recursive: true });
  await make(growing);
  await rename(growing, folder).catch(() => rm(growing, { recursive: true }));
  await forgetStale();
  return folder;
}

async function forgetStale(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const folder = join(CACHE, name);
    const age = await stat(folder).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > STALE_MS) await rm(folder, { recursive: true, force: true });
  }
}
