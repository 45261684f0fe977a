import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { incompatibilityOf, sqliteDriverIncompatibility } from '../../lib/store/databases/sqlite/sqlite-driver.js';

const root = resolve(import.meta.dirname, '../..');

describe('the SQLite driver', () => {
  it.each([
    { driver: '12.11.1', node: '20.19.0', napi: '9' },
    { driver: '12.11.1', node: '22.13.1', napi: '9' },
    { driver: '12.11.1', node: '22.23.3', napi: '10' },
    { driver: '12.11.1', node: '24.18.1', napi: '10' },
    { driver: '13.2.0', node: '22.14.0', napi: '10' },
    { driver: '13.2.0', node: '24.19.0', napi: '10' },
    { driver: '13.2.0', node: '26.10.0', napi: '10' },
  ])('better-sqlite3 $driver fits Node $node', ({ driver, ...release }) => {
    expect(incompatibilityOf(driver, release)).toBeUndefined();
  });

  it.each([
    { driver: '13.2.0', node: '20.20.2', napi: '9' },
    { driver: '13.0.0', node: '22.13.1', napi: '9' },
  ])('better-sqlite3 $driver needs a newer Node than $node', ({ driver, ...release }) => {
    expect(incompatibilityOf(driver, release)).toBe(
      `Expected better-sqlite3 12 on Node ${release.node}, got better-sqlite3 ${driver}, which needs Node 22.14 or newer ` +
        `and crashes on older releases. Install better-sqlite3@12 or a newer Node.`,
    );
  });

  it.each([
    { driver: '12.11.1', node: '24.19.0', napi: '10' },
    { driver: '12.11.1', node: '26.0.0', napi: '10' },
    { driver: '11.10.0', node: '24.21.0', napi: '10' },
  ])('better-sqlite3 $driver is too old for Node $node', ({ driver, ...release }) => {
    expect(incompatibilityOf(driver, release)).toBe(
      `Expected better-sqlite3 13 on Node ${release.node}, got better-sqlite3 ${driver}, which aborts the process on Node ` +
        `24.19 and newer. Run \`npm pkg set overrides.typeorm.better-sqlite3=13\` and \`npm install better-sqlite3@13\`.`,
    );
  });

  it('fits the Node of the test run', () => {
    expect(sqliteDriverIncompatibility()).toBeUndefined();
  });

  // npm drops this line whenever it writes the file, and then compiles a package that ships its binaries.
  it('is installed without a compiler by the line `"gypfile": false` in package-lock.json', async () => {
    const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string; gypfile?: boolean }>;
    };

    expect(lock.packages['node_modules/better-sqlite3']).toMatchObject({ gypfile: false });
  });
});
