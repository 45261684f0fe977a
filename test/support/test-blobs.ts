import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileBlobs } from '../../lib/extras/codecs/file-blobs.js';
import type { BlobStore } from '../../lib/job/codec/blob-options.js';

/** A real blob store in a folder of its own, which a test can take away. */
export interface TestBlobs {
  readonly folder: string;
  readonly store: BlobStore;
  /** The keys of all blobs. */
  keys(): Promise<string[]>;
  /** The days of expiry of all blobs. */
  days(): Promise<string[]>;
  /** The keys that the store lists as expired. */
  expiredAt(time: Date): Promise<string[]>;
  /** Moves all blobs to another day of expiry. */
  moveAll(day: string): Promise<void>;
  /** The contents of all files, also of incomplete ones. */
  texts(): Promise<string[]>;
  /** Unmounts the folder. */
  takeAway(): Promise<void>;
  bringBack(): Promise<void>;
}

export async function blobsFor({ afterTest }: { afterTest(cleanup: () => unknown): void }): Promise<TestBlobs> {
  const parent = await mkdtemp(join(tmpdir(), 'sql-queue-blobs-'));
  afterTest(() => rm(parent, { recursive: true, force: true }));
  const folder = await mkdtemp(join(parent, 'mount-'));
  const away = join(parent, 'away');
  const files = async () => {
    const days = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
    return (await Promise.all(days.map(({ name }) => filesOf(join(folder, name))))).flat();
  };
  const store = fileBlobs({ folder });
  return {
    folder,
    store,
    keys: async () => (await files()).map((file) => file.slice(folder.length + 1)).sort(),
    days: () => readdir(folder),
    expiredAt: async (time) => {
      const keys: string[] = [];
      for await (const key of store.expired!(time, { signal: new AbortController().signal })) keys.push(key);
      return keys;
    },
    moveAll: async (day) => {
      await mkdir(join(folder, day));
      for (const file of await files()) await rename(file, join(folder, day, basename(file)));
    },
    texts: async () => Promise.all((await files()).map((file) => readFile(file, 'utf8'))),
    takeAway: () => rename(folder, away),
    bringBack: () => rename(away, folder),
  };
}

/** The files of a day; none if a worker deletes the empty folder meanwhile. */
async function filesOf(day: string): Promise<string[]> {
  try {
    return (await readdir(day)).map((name) => join(day, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
