import { createHash } from 'node:crypto';

/**
 * Identifies the machine, settings, versions and state of the library on which a contestant's figure depends. The report
 * combines figures of several runs and marks those with another fingerprint.
 */
export function fingerprint({ settings, versions, library }, profile, { cpu, cores, memoryGb }) {
  const text = JSON.stringify([settings[profile], versions, library, cpu, cores, memoryGb]);
  return createHash('sha1').update(text).digest('hex').slice(0, 10);
}
