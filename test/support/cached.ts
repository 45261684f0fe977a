import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { processStartTime } from './process-start-time.js';

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/nestjs-sql-queue');
// A run uses its builds until it ends, which may take hours.
const STALE_MS = 86_400_000;
const WAIT_MS = 50;

/**
 * Returns a folder with the build of these texts, which are given by path. The folder is named after their hash and
 * renamed into place when it is complete. Of the processes that request it at once, one makes it and the others wait.
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
  const lock = `${folder}.lock`;
  await mkdir(CACHE, { recursive: true });
  while (!existsSync(folder)) {
    if (!(await hasLocked(lock))) {
      await setTimeout(WAIT_MS);
      continue;
    }
    try {
      await makeOnce(folder, make);
    } finally {
      // Another process may have removed it together with that of a dead one.
      await rm(lock, { force: true });
    }
  }
  // It is not stale, because this run uses it.
  await utimes(folder, new Date(), new Date());
  return folder;
}

/** Without the lock the result is the same: two processes do the same work, and one of the folders stays. */
async function hasLocked(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, await identityOf(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
    const owner = await readFile(lock, 'utf8').catch(() => '');
    const pid = Number.parseInt(owner, 10);
    if (pid > 0 && !(isAlive(pid) && owner === (await identityOf(pid)))) await rm(lock, { force: true });
    return false;
  }
}

/** A later process may have the same id. */
async function identityOf(pid: number): Promise<string> {
  return `${pid} ${await processStartTime(pid)}`;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}

async function makeOnce(folder: string, make: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  const growing = `${folder}.${randomUUID()}`;
  await mkdir(growing);
  await make(growing);
  await rename(growing, folder).catch(() => rm(growing, { recursive: true }));
  await deleteStale(CACHE);
}

/** Deletes what runs that were killed, or earlier versions, have left in the folder. */
export async function deleteStale(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const folder = join(parent, name);
    const age = await stat(folder).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > STALE_MS) await rm(folder, { recursive: true, force: true });
  }
}
