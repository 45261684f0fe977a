import { randomId } from '../../job/random-id.js';
import { readOverrides } from '../../job/read-columns.js';

/**
 * The options of a job that starts anew under its old id. Its steps get new keys, so that other systems do not take them for
 * repetitions of the old ones.
 */
export function withRestart(options: string | null): string {
  const read = readOverrides(options);
  return JSON.stringify({ ...('overrides' in read && read.overrides), restart: randomId() });
}
