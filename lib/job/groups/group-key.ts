/** The group of jobs without a group, in a queue with groups. */
export const DEFAULT_GROUP = 'default';

export const GROUP_KEY_EXPECTED = 'a text of 1 to 100 characters without a space at its start or end';

/** The text goes into a column with a collation that ignores spaces at the end. */
export function isGroupKey(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= 100 && value.trim() === value;
}
