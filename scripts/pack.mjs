// Packs the package as it would be published, from a separate build, so that dist and a running sample stay as they
// are.
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from './build.mjs';

const root = resolve(import.meta.dirname, '..');

/** Returns the path of the tarball in `folder`. */
export async function pack(folder) {
  return (await packWithReport(folder)).tarball;
}

/** Returns also the folder with its content, the paths and bytes of its files, and the bytes of the tarball. */
export async function packWithReport(folder) {
  const stage = join(folder, 'stage');
  await mkdir(stage, { recursive: true });
  await build(join(stage, 'dist'));
  const { files } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  for (const name of ['package.json', 'README.md', 'LICENSE', ...files]) {
    if (name !== 'dist' && existsSync(join(root, name)))
      await cp(join(root, name), join(stage, name), { recursive: true });
  }
  const { stdout } = await promisify(execFile)(
    'npm',
    ['pack', '--ignore-scripts', '--workspaces=false', '--json', '--pack-destination', folder],
    { cwd: stage },
  );
  const [{ filename, files: packed, size, unpackedSize }] = JSON.parse(stdout);
  const paths = packed.map(({ path }) => path);
  return { tarball: join(folder, filename), stage, paths, bytes: unpackedSize, packedBytes: size };
}
