import { interceptingDriver } from './intercepting-driver.js';
import { rewritingDriver, waitForLocks, type Driver } from './rewriting-driver.js';

// A slow machine may keep a row locked for seconds. A longer wait is a deadlock that the server does not see.
const LONGEST_WAIT_S = 60;

/** A driver that records the error numbers of the server, including those of retried statements. */
export function recordServerErrors(): { driver: object; refused: number[] } {
  const refused: number[] = [];
  const recording = interceptingDriver(() => Promise.resolve(), undefined, {
    multipleStatements: true,
    refused: (error) => void refused.push((error as { errno?: number }).errno ?? 0),
  }) as Driver;
  return { driver: rewritingDriver(waitForLocks(LONGEST_WAIT_S), recording), refused };
}

/** The deadlocks and lock wait timeouts among these errors. */
export function lockErrorsOf(errnos: readonly number[]): number[] {
  return errnos.filter((errno) => errno === 1213 || errno === 1205);
}
