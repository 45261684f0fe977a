import { currentVersion } from '../schema/schema.js';
import { SCHEMA_VERSION } from '../schema/migrations/migrations.js';
import { ok, ON_ALL, problem, type Check } from './check.js';

const MIGRATE =
  'Run `npx nestjs-sql-queue migrate`, or start the application with `schema: { migrate: "run" }`: docs/upgrading.md.';

/** Whether the tables have the version of this release. */
export const checkTables: Check = {
  name: 'tables',
  on: ON_ALL,
  async run({ database, tables }) {
    const version = await database.runIdempotent(() => currentVersion());
    if (version === SCHEMA_VERSION) return [ok(`version ${version}`)];
    if (version === 0)
      return [problem(`there is no table ${tables.schema}, or it is empty`, `${MIGRATE} Or pass --prefix.`)];
    const facts = `the tables have version ${version}, expected ${SCHEMA_VERSION}`;
    return version < SCHEMA_VERSION
      ? [problem(facts, MIGRATE)]
      : [problem(facts, 'A newer release has changed the tables. Run the doctor of that release.')];
  },
};
