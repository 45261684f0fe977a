import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { transform } from '@swc/core';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import S3rver from 's3rver';
import type { BlobStore } from '../../lib/job/codec/blob-options.js';
import { openWorld, type World } from '../support/engines.js';
import { freshDatabase, servers } from '../support/servers.js';

const root = resolve(import.meta.dirname, '../..');
const examples = join(root, 'node_modules/.cache/nestjs-sql-queue');
const BUCKET = 'blobs';
const LONG = 'x'.repeat(5_000);

describe('the example for S3 in docs/payloads.md', () => {
  const cleanups: (() => unknown)[] = [];
  let s3: S3Client;
  let stopServer: () => Promise<void>;
  let store: BlobStore;
  let world: World;

  beforeEach(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sql-queue-s3-'));
    cleanups.push(() => rm(directory, { recursive: true, force: true }));
    const server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory });
    const { port } = await server.run();
    let stopping: Promise<void> | undefined;
    stopServer = () => (stopping ??= server.close());
    cleanups.push(stopServer);
    s3 = new S3Client({
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
      maxAttempts: 1,
    });
    cleanups.push(() => s3.destroy());
    await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
    store = (await exampleModule()).s3Blobs(s3, BUCKET);
    // SQLite, if the run does not leave it out.
    const database = await freshDatabase(servers.at(-1)!);
    cleanups.push(() => database.drop());
    const opened = await openWorld(database.server, database.connection);
    cleanups.push(opened.close);
    world = opened.world;
  });

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  const keys = async () =>
    ((await s3.send(new ListObjectsV2Command({ Bucket: BUCKET }))).Contents ?? []).map(({ Key }) => Key);

  it('stores and reads long payloads, and deletes those of a person', async () => {
    const { producer, admin, events } = await world.start({
      blobs: { store, over: '1kb' },
      handlers: { q: (job) => (job.payload as string).length },
    });

    const { id } = await producer.enqueue('q', LONG, { subject: 'user:7' });
    const { result } = await events.until('completed', { jobId: id });
    const before = await keys();
    await admin.erase('user:7');

    expect(result).toBe(LONG.length);
    expect(before).toEqual([expect.stringMatching(/^jobs\/\d{4}-\d\d-\d\d\/[0-9a-f-]{36}$/)]);
    expect(await keys()).toEqual([]);
  });

  it('distinguishes a missing blob from a store that is down', async () => {
    const options = { signal: new AbortController().signal };

    expect(await store.get('2027-02-23/none', options)).toBeUndefined();
    const withoutBucket = (await exampleModule()).s3Blobs(s3, 'no-such-bucket');
    await expect(withoutBucket.get('2027-02-23/none', options)).rejects.toThrow();
    await stopServer();
    await expect(store.get('2027-02-23/none', options)).rejects.toThrow();
    const { producer } = await world.start({ blobs: { store, over: '1kb' }, autoStart: false });
    await expect(producer.enqueue('q', LONG)).rejects.toMatchObject({ code: 'CONTENT_UNAVAILABLE' });
  });
});

/** Runs the text of the documentation, so that it cannot differ from the tested code. */
async function exampleModule() {
  const page = await readFile(join(root, 'docs/payloads.md'), 'utf8');
  const example = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].find(([, code]) => code!.includes('s3Blobs('))![1]!;
  const { code } = await transform(example, {
    swcrc: false,
    configFile: false,
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'es6' },
  });
  await mkdir(examples, { recursive: true });
  const folder = await mkdtemp(join(examples, 's3-'));
  try {
    const file = join(folder, 's3-blobs.mjs');
    await writeFile(file, code);
    return (await import(file)) as { s3Blobs(s3: S3Client, bucket: string): BlobStore };
  } finally {
    await rm(folder, { recursive: true });
  }
}
