import { hasCode } from '../../job/errors.js';
import { isMissingTable } from '../core/classify-error.js';
import { schemaVersion } from '../schema/migrations.js';
import { currentVersion } from '../schema/schema.js';
import type { SqlTable } from '../schema/sql-tables.js';
import { TABLES, type Tables } from '../tables/table-names.js';
import { TABLE_SCHEMAS } from '../tables/table-schemas.js';
import type { ActualTable } from './actual-tables.js';
import { note, ok, problem, READER, unknown, type LightCheck, type LightPatient, type Verdict } from './check.js';
import { compareTables } from './compare-tables.js';
import type { TableTools } from './table-tools.js';

const MIGRATE =
  'Run `npx nestjs-sql-queue migrate`, or start the application with `schema: { migrate: "run" }`: docs/upgrading.md.';

const CHANGED = 'Another program has changed the table. Back it up, stop the workers and run:';

/** Whether the tables have the version of this release, and its columns, keys and indexes. */
export const checkTables = (tools: TableTools): LightCheck => ({
  name: 'tables',
  isLight: true,
  async run(patient) {
    const { database, tables } = patient;
    const version = await database.runIdempotent(() => currentVersion());
    const expected = schemaVersion();
    if (version === expected) return checkShapes(patient, tools);
    if (version === 0)
      return [problem(`there is no table ${tables.schema}, or it is empty`, `${MIGRATE} Or pass --prefix.`)];
    const facts = `the tables have version ${version}, expected ${expected}`;
    return version < expected
      ? [problem(facts, MIGRATE)]
      : [problem(facts, 'A newer release has changed the tables. Run the doctor of that release.')];
  },
});

async function checkShapes(patient: LightPatient, tools: TableTools): Promise<Verdict[]> {
  const { schema, tables } = patient;
  const verdicts: Verdict[] = [];
  const unseen: string[] = [];
  for (const key of TABLES) {
    const expected = schema.table(tables[key], TABLE_SCHEMAS[key]);
    const actual = await readOrDenied(patient, tools, key);
    if (actual === 'denied') unseen.push(tables[key]);
    else if (actual) verdicts.push(...differencesOf(tools, expected, actual));
    else verdicts.push(missingTable(patient, expected));
  }
  if (unseen.length > 0) verdicts.push(unknown(`the account may not see ${unseen.join(', ')}`, READER));
  return verdicts.length > 0 ? verdicts : [ok(`version ${schemaVersion()}, with its columns, keys and indexes`)];
}

async function readOrDenied(
  { database, tables }: LightPatient,
  tools: TableTools,
  key: keyof Tables,
): Promise<ActualTable | 'denied' | undefined> {
  try {
    return await database.runIdempotent(() => tools.read(key, tables));
  } catch (error) {
    if (isMissingTable(error)) return undefined;
    if (hasCode(error, 'MISSING_PRIVILEGE')) return 'denied';
    throw error;
  }
}

function missingTable({ schema }: LightPatient, expected: SqlTable): Verdict {
  const statements = schema
    .createTable(expected)
    .map((sql) => `${sql};`)
    .join('\n');
  return problem(
    `the table ${expected.name} is missing`,
    `Another program has dropped it. Its rows are lost. Run:\n${statements}`,
  );
}

function differencesOf(tools: TableTools, expected: SqlTable, actual: ActualTable): Verdict[] {
  const { name } = expected;
  const differences = compareTables(expected, actual);
  const { facts, extraColumns, unfilledColumns, extraIndexes } = differences;
  const verdicts: Verdict[] = [];
  if (facts.length > 0) {
    const statements = tools.repair(expected, actual, differences).join('\n');
    verdicts.push(problem(`${name}: ${facts.join('; ')}`, `${CHANGED}\n${statements}`));
  }
  const kept = extraColumns.filter((column) => !unfilledColumns.includes(column));
  const extra = [
    ...kept.map((column) => [`column ${column}`, `ALTER TABLE ${name} DROP COLUMN ${column};`] as const),
    ...extraIndexes.map((index) => [`index ${index}`, tools.dropIndex(name, index)] as const),
  ];
  for (const [what, statement] of extra)
    verdicts.push(
      note(`${name}: the ${what} is not of this release`, `Unless another program needs it, run:\n${statement}`),
    );
  return verdicts;
}
