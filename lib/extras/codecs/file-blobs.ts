import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { checkAndResolve, kind, option, type SchemaOf } from '../../job/option-schema.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { expected } from '../../job/expectation.js';
import type { BlobCallOptions, BlobStore } from '../../job/codec/blob-options.js';

/** The options of `fileBlobs`. */
export interface FileBlobsOptions {
  /**
   * The absolute path of a folder that exists, and that all processes share. The library does not create it. On a mounted
   * file system, choose a folder inside of the mount: if the mount is missing, the folder is missing, and jobs wait.
   */
  folder: string;
}

const FILE_BLOBS_OPTIONS = {
  folder: option(kind('an absolute path', (value): value is string => typeof value === 'string' && isAbsolute(value))),
} satisfies SchemaOf<FileBlobsOptions>;

const KEY = /^\d{4}-\d{2}-\d{2}\/[0-9a-f-]{36}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Stores blobs as files of a folder, in one subfolder for each day of expiry. Files appear complete or not at all. Workers
 * delete the files of past days that no job needs any more.
 *
 * @throws InvalidOptionsError
 */
export function fileBlobs(options: FileBlobsOptions): BlobStore {
  const { folder } = checkAndResolve('fileBlobs', FILE_BLOBS_OPTIONS, options);
  InvalidOptionsError.throwIfAny('fileBlobs', [
    expected(folder !== undefined, 'folder to be an absolute path', folder),
  ]);
  return new FileBlobs(folder!);
}

class FileBlobs implements BlobStore {
  constructor(private readonly folder: string) {}

  async check(): Promise<void> {
    const reason = await blobFolderProblem(this.folder);
    InvalidOptionsError.throwIfAny('fileBlobs', [
      reason &&
        `expected folder to be a folder that exists and that this process may write, got ${JSON.stringify(this.folder)}: ` +
          `${reason}. Create it, mount it, or change its owner`,
    ]);
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    const path = this.#pathOf(key);
    await this.#makeDay(dirname(path));
    const partial = `${path}.${randomUUID()}.partial`;
    try {
      await writeDurably(partial, body);
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
    await syncFolder(dirname(path));
  }

  async get(key: string, { signal }: BlobCallOptions): Promise<Uint8Array | undefined> {
    try {
      return await readFile(this.#pathOf(key), { signal });
    } catch (error) {
      if (!isMissing(error)) throw error;
      // Rejects if the folder is missing too, because then its mount may be.
      await stat(this.folder);
      return undefined;
    }
  }

  async delete(key: string): Promise<void> {
    const path = this.#pathOf(key);
    await stat(this.folder);
    await rm(path, { force: true });
  }

  async *expired(before: Date, { signal }: BlobCallOptions): AsyncGenerator<string> {
    const today = before.toISOString().slice(0, -'Thh:mm:ss.mmmZ'.length);
    for (const day of await readdir(this.folder)) {
      if (!DAY.test(day) || day >= today) continue;
      for (const name of await this.#namesOf(day)) {
        signal.throwIfAborted();
        const key = `${day}/${name}`;
        if (KEY.test(key)) yield key;
        // A process died while it wrote the file.
        else if (name.endsWith('.partial')) await rm(join(this.folder, key), { force: true });
      }
      // Blobs that jobs still need stay, and so does their folder.
      await rmdir(join(this.folder, day)).catch(() => undefined);
    }
  }

  /** None if another worker has deleted the last file of the day, and its folder. */
  async #namesOf(day: string): Promise<string[]> {
    try {
      return await readdir(join(this.folder, day));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** The key has no dots, so the path stays in the folder. */
  #pathOf(key: string): string {
    if (!KEY.test(key)) throw new Error(`expected a key of a blob, got ${JSON.stringify(key)}`);
    return join(this.folder, key);
  }

  async #makeDay(day: string): Promise<void> {
    try {
      // Not recursive: rejects if the folder itself is missing.
      await mkdir(day);
      await syncFolder(this.folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** The reason why this process cannot store blobs in the folder; undefined if it can. */
export async function blobFolderProblem(folder: string): Promise<string | undefined> {
  try {
    if (!(await stat(folder)).isDirectory()) return 'it is no folder';
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function writeDurably(path: string, body: Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(body);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes new names in the folder durable. Windows cannot, and needs it not. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
