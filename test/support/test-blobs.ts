import { mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileBlobs } from '../../lib/job/codec/file-blobs.js';
import type { BlobStore } from '../../lib/job/codec/blob-options.js';

/** A real blob store in a folder of its own, which a test can take away. */
export interface TestBlobs {
  readonly folder: string;
  readonly store: BlobStore;
  /** The keys of all blobs. */
  keys(): Promise<string[]>;
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
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  };
  return {
    folder,
    store: fileBlobs({ folder }),
    keys: async () => (await files()).map((file) => file.slice(folder.length + 1)).sort(),
    texts: async () => Promise.all((await files()).map((file) => readFile(file, 'utf8'))),
    takeAway: () => rename(folder, away),
    bringBack: () => rename(away, folder),
  };
}
