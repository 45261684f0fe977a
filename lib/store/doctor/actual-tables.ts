export interface ActualColumn {
  /** In lower case, without the display width of numbers. */
  readonly type: string;
  /** Null on SQLite, and of numbers. */
  readonly collation: string | null;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
  readonly isAutoIncrement: boolean;
}

export interface ActualIndex {
  readonly columns: string[];
  readonly isUnique: boolean;
}

/** A table of the database. */
export interface ActualTable {
  readonly columns: ReadonlyMap<string, ActualColumn>;
  readonly primaryKey: readonly string[];
  readonly indexes: ReadonlyMap<string, ActualIndex>;
}

/** @param parts the columns of all indexes, in order */
export function groupParts(
  parts: readonly { name: string; part: string; isUnique: boolean }[],
): Map<string, ActualIndex> {
  const indexes = new Map<string, ActualIndex>();
  for (const { name, part, isUnique } of parts) {
    if (!indexes.has(name)) indexes.set(name, { columns: [], isUnique });
    indexes.get(name)!.columns.push(part);
  }
  return indexes;
}
