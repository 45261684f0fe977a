import { createHash } from 'node:crypto';

/**
 * Identifies the settings, versions and state of the library on which a contestant's figure depends. The report
 * combines figures of several runs and marks those with another fingerprint.
 */
export function fingerprint({ settings, versions, library }, profile) {
  const text = JSON.stringify([settings[profile], versions, library]);
  return createHash('sha1').update(text).digest('hex').slice(0, 10);
}
