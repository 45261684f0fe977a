import { readSettings, type StoredSettings } from '../../../job/settings/queue-configuration.js';
import { parseJsonOrNull } from '../../core/parse-json.js';

/** The settings in the row of a queue. Settings that another program has written badly do not apply. */
export function settingsOf({ settings }: { readonly settings: string | null }): StoredSettings {
  return settings === null ? {} : readSettings(parseJsonOrNull(settings));
}
