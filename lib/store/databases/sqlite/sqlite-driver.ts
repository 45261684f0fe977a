import type { DataSourceOptions } from 'typeorm';
import { requireHere } from '../../../common/require-here.js';
import { UnsupportedDatabaseError } from '../../../job/errors.js';

export interface NodeRelease {
  readonly node: string;
  /** The highest version of Node-API that this release supports. */
  readonly napi: string;
}

/**
 * Throws if the installed better-sqlite3 would crash this process. Call it before anything opens a database: the
 * crash is a signal, which no code can catch.
 */
export function checkSqliteDriver(options: DataSourceOptions): void {
  const problem = driverProblem(options);
  if (problem !== undefined) throw new UnsupportedDatabaseError(problem);
}

export function driverProblem(options: DataSourceOptions): string | undefined {
  return usesInstalledDriver(options) ? sqliteDriverIncompatibility() : undefined;
}

/** The version of a driver that the application passes in is unknown. */
export function usesInstalledDriver(options: DataSourceOptions): boolean {
  return options.type === 'better-sqlite3' && !options.driver;
}

/** Whether a driver that the application passes in is the one that this library would load. */
export function isInstalledDriver(driver: unknown): boolean {
  try {
    const installed: unknown = requireHere('better-sqlite3');
    return driver === installed || (driver as { default?: unknown } | null)?.default === installed;
  } catch {
    return false;
  }
}

export function sqliteDriverIncompatibility(): string | undefined {
  const version = installedVersion();
  return version === undefined ? undefined : incompatibilityOf(version, process.versions as unknown as NodeRelease);
}

export function incompatibilityOf(driver: string, { node, napi }: NodeRelease): string | undefined {
  const driverMajor = Number(driver.split('.')[0]);
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (driverMajor >= 13 && Number(napi) < 10) {
    return (
      `Expected better-sqlite3 12 on Node ${node}, got better-sqlite3 ${driver}, which needs Node 22.14 or newer and crashes ` +
      `on older releases. Install better-sqlite3@12 or a newer Node.`
    );
  }
  if (driverMajor <= 12 && (major > 24 || (major === 24 && minor >= 19))) {
    return (
      `Expected better-sqlite3 13 on Node ${node}, got better-sqlite3 ${driver}, which aborts the process on Node 24.19 and ` +
      `newer. Run \`npm pkg set overrides.typeorm.better-sqlite3=13\` and \`npm install better-sqlite3@13\`.`
    );
  }
  return undefined;
}

function installedVersion(): string | undefined {
  try {
    return (requireHere('better-sqlite3/package.json') as { version: string }).version;
  } catch {
    // TypeORM reports a driver that is not installed.
    return undefined;
  }
}
