import { hasCode } from '../../job/errors.js';
import { isMissingTable } from '../core/classify-error.js';
import { expectedTables, type ExpectedTable } from '../schema/expected-tables.js';
import { currentVersion } from '../schema/schema.js';
import { SCHEMA_VERSION } from '../schema/migrations/migrations.js';
import type { Tables } from '../tables/table-names.js';
import { readActualTable, type ActualTable } from './actual-tables.js';
import { note, ok, ON_ALL, problem, READER, unknown, type Check, type Patient, type Verdict } from './check.js';
import { compareTables } from './compare-tables.js';
import { createTable, dropIndex, repairTable } from './repair-table.js';

const MIGRATE =
  'Run `npx nestjs-sql-queue migrate`, or start the application with `schema: { migrate: "run" }`: docs/upgrading.md.';

const CHANGED = 'Another program has changed the table. Back it up, stop the workers and run:';

/** Whether the tables have the version of this release, and its columns, keys and indexes. */
export const checkTables: Check = {
  name: 'tables',
  on: ON_ALL,
  async run(patient) {
    const { database, tables } = patient;
    const version = await database.runIdempotent(() => currentVersion());
    if (version === SCHEMA_VERSION) return checkShapes(patient);
    if (version === 0)
      return [problem(`there is no table ${tables.schema}, or it is empty`, `${MIGRATE} Or pass --prefix.`)];
    const facts = `the tables have version ${version}, expected ${SCHEMA_VERSION}`;
    return version < SCHEMA_VERSION
      ? [problem(facts, MIGRATE)]
      : [problem(facts, 'A newer release has changed the tables. Run the doctor of that release.')];
  },
};

async function checkShapes(patient: Patient): Promise<Verdict[]> {
  const { dialect, tables } = patient;
  const verdicts: Verdict[] = [];
  const unseen: string[] = [];
  for (const [key, expected] of expectedTables(dialect.name)) {
    const named = withNames(expected, tables);
    const actual = await readOrDenied(patient, key);
    if (actual === 'denied') unseen.push(tables[key]);
    else if (actual) verdicts.push(...differencesOf(patient, tables[key], named, actual));
    else verdicts.push(missingTable(patient, tables[key], named));
  }
  if (unseen.length > 0) verdicts.push(unknown(`the account may not see ${unseen.join(', ')}`, READER));
  return verdicts.length > 0 ? verdicts : [ok(`version ${SCHEMA_VERSION}, with its columns, keys and indexes`)];
}

async function readOrDenied(
  { database, dialect, tables }: Patient,
  key: keyof Tables,
): Promise<ActualTable | 'denied' | undefined> {
  try {
    return await database.runIdempotent(() => readActualTable(dialect, key, tables));
  } catch (error) {
    if (isMissingTable(error)) return undefined;
    if (hasCode(error, 'MISSING_PRIVILEGE')) return 'denied';
    throw error;
  }
}

function missingTable({ dialect }: Patient, name: string, expected: ExpectedTable): Verdict {
  const statements = createTable(dialect.name, name, expected).join('\n');
  return problem(
    `the table ${name} is missing`,
    `Another program has dropped it. Its rows are lost. Run:\n${statements}`,
  );
}

function differencesOf({ dialect }: Patient, name: string, expected: ExpectedTable, actual: ActualTable): Verdict[] {
  const differences = compareTables(dialect.name, expected, actual);
  const { facts, extraColumns, unfilledColumns, extraIndexes } = differences;
  const verdicts: Verdict[] = [];
  if (facts.length > 0) {
    const statements = repairTable(dialect.name, name, expected, actual, differences).join('\n');
    verdicts.push(problem(`${name}: ${facts.join('; ')}`, `${CHANGED}\n${statements}`));
  }
  const kept = extraColumns.filter((column) => !unfilledColumns.includes(column));
  const extra = [
    ...kept.map((column) => [`column ${column}`, `ALTER TABLE ${name} DROP COLUMN ${column};`] as const),
    ...extraIndexes.map((index) => [`index ${index}`, dropIndex(dialect.name, name, index)] as const),
  ];
  for (const [what, statement] of extra)
    verdicts.push(
      note(`${name}: the ${what} is not of this release`, `Unless another program needs it, run:\n${statement}`),
    );
  return verdicts;
}

/** The table with the names of this database in place of those in braces. */
function withNames(table: ExpectedTable, tables: Tables): ExpectedTable {
  const named = (sql: string) => sql.replace(/\{(\w+)\}/g, (_, key: keyof Tables) => tables[key]);
  return { ...table, indexes: new Map(Array.from(table.indexes, ([name, columns]) => [named(name), columns])) };
}
