import { createHash } from 'node:crypto';

/**
 * Stands for all that a figure of a contestant depends on: settings, versions, the state of the library. Figures of
 * several runs are put together in one report, and it has to tell which of them are of an earlier state.
 */
export function fingerprint({ settings, versions, library }, profile) {
  const text = JSON.stringify([settings[profile], versions, library]);
  return createHash('sha1').update(text).digest('hex').slice(0, 10);
}
