import { recordingDriver } from './recording-driver.js';

/** A driver that keeps the numbers of what a server refuses, statements that are then done again among them. */
export function refusals(): { driver: object; refused: number[] } {
  const refused: number[] = [];
  const driver = recordingDriver(() => Promise.resolve(), undefined, {
    multipleStatements: true,
    refused: (error) => void refused.push((error as { errno?: number }).errno ?? 0),
  });
  return { driver, refused };
}

/** The deadlocks among them, and the waits for a lock that were given up. */
export function ofLocks(refused: readonly number[]): number[] {
  return refused.filter((errno) => errno === 1213 || errno === 1205);
}
