/** The parsed JSON; null if the column is null or if another program wrote invalid JSON. */
export function parseJsonOrNull<T>(text: string | null): T | null {
  if (text === null) return null;
  try {
    return JSON.parse(text) as T | null;
  } catch {
    return null;
  }
}
