import { toString } from 'cronstrue';

/** A cron text in words, such as "At 03:00, Monday through Friday"; undefined if it is invalid or not known. */
export function cronWords(cron: string): string | undefined {
  try {
    return toString(cron, { use24HourTimeFormat: true });
  } catch {
    return undefined;
  }
}

/** A time zone in words, such as "Central European Time"; its id if the browser has no words. */
export function zoneWords(tz: string): string {
  const words = (timeZoneName: 'long' | 'longGeneric') =>
    new Intl.DateTimeFormat('en', { timeZone: tz, timeZoneName })
      .formatToParts()
      .find(({ type }) => type === 'timeZoneName')?.value;
  try {
    const generic = words('longGeneric');
    // A zone without summer time may have only the name that it has all year.
    return (generic?.startsWith('GMT') ? words('long') : generic) ?? tz;
  } catch {
    return tz;
  }
}
