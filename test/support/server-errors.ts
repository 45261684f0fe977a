import { interceptingDriver } from './intercepting-driver.js';

/** A driver that records the error numbers of the server, including those of retried statements. */
export function recordServerErrors(): { driver: object; refused: number[] } {
  const refused: number[] = [];
  const driver = interceptingDriver(() => Promise.resolve(), undefined, {
    multipleStatements: true,
    refused: (error) => void refused.push((error as { errno?: number }).errno ?? 0),
  });
  return { driver, refused };
}

/** The deadlocks and lock wait timeouts among these errors. */
export function lockErrorsOf(errnos: readonly number[]): number[] {
  return errnos.filter((errno) => errno === 1213 || errno === 1205);
}
