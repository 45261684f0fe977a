import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version in the package.json of this library, which is above the file of the running program. */
export function packageVersion(from: string = import.meta.dirname): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    const found = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<string, string>>) : {};
    if (found['name'] === 'nestjs-sql-queue' && found['version'] !== undefined) return found['version'];
    if (folder === dirname(folder)) return 'unknown';
  }
}
