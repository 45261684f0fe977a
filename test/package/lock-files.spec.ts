import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const files = execFileSync('git', ['ls-files', '*package-lock.json'], { cwd: root, encoding: 'utf8' }).split('\n');

interface Package {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

describe('a lock file', () => {
  // npm leaves out an optional package that a registry does not have, and `npm ci` then refuses the file.
  it.each(files.filter((file) => file !== ''))('%s has each package that it names', (file) => {
    const { packages } = JSON.parse(readFileSync(resolve(root, file), 'utf8')) as { packages: Record<string, Package> };
    const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !isInstalled(packages, path, name))
        .map((name) => `${name} of ${path}`),
    );
    expect(missing).toEqual([]);
  });
});

/** Whether Node finds the package `name` from the folder `path`. */
function isInstalled(packages: Record<string, Package>, path: string, name: string): boolean {
  const at = path === '' ? `node_modules/${name}` : `${path}/node_modules/${name}`;
  if (at in packages) return true;
  return path !== '' && isInstalled(packages, path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))), name);
}
