import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Installs the packages of the lock file in the folder, unless they are installed. An installation that was killed has no
 * marker, and is repeated.
 *
 * @param finish runs after `npm ci`
 */
export async function installPackages(
  folder: string,
  options: readonly string[] = [],
  finish?: () => Promise<void>,
): Promise<void> {
  const marker = join(folder, 'node_modules/.installed');
  const text = await readFile(join(folder, 'package-lock.json'));
  const lock = createHash('sha256').update(text).digest('hex');
  if ((await readFile(marker, 'utf8').catch(() => '')) === lock) return;
  await run('npm', ['ci', ...options, '--no-audit', '--no-fund'], { cwd: folder });
  await finish?.();
  await writeFile(marker, lock);
}
