import { hasCode } from '../../../../job/errors.js';
import { isMissingTable } from '../../../core/classify-error.js';
import { query } from '../../../core/statement.js';
import { TABLE_SCHEMAS } from '../../../tables/table-schemas.js';
import { TABLES, type Tables } from '../../../tables/table-names.js';
import { ACCOUNT_PRIVILEGES, type Account, type TablePrivilege } from '../../../doctor/account-privileges.js';
import { ok, problem, unknown, type Check, type Patient, type Verdict } from '../../../doctor/check.js';

// A server checks the privileges of the explained statement, roles and patterns included, and executes nothing.
const PROBES: Readonly<Record<TablePrivilege, (table: string, column: string) => string>> = {
  SELECT: (table) => `EXPLAIN SELECT 1 FROM {${table}}`,
  INSERT: (table) => `EXPLAIN INSERT IGNORE INTO {${table}} () VALUES ()`,
  UPDATE: (table, column) => `EXPLAIN UPDATE {${table}} SET ${column} = NULL WHERE FALSE`,
  DELETE: (table) => `EXPLAIN DELETE FROM {${table}} WHERE FALSE`,
};

const IDENTITY = `
  SELECT CURRENT_USER() AS account, DATABASE() AS db`;

const OTHER_ACCOUNTS = 'If the account has another purpose, pass --account producer, asker, migrator or reader.';

/** Compares the privileges of this account to those of its kind in docs/guides/security.md. */
export const checkPrivileges: Check = {
  name: 'privileges',
  async run(patient) {
    const { database, account, tables } = patient;
    const [identity] = await database.runIdempotent(() => query<{ account: string; db: string }>(IDENTITY));
    const { account: name, db } = identity!;
    const onTables = await missingOnTables(patient);
    const onDatabase = await missingOnDatabase(patient, db);
    if (onTables.size === 0 && onDatabase.length === 0) return [ok(`${name} has the privileges of a ${account}`)];
    const grants = [...onTables].map(([table, privileges]) => grant(privileges, `${db}.${tables[table]}`, name));
    if (onDatabase.length > 0) grants.push(grant(onDatabase, `${db}.*`, name));
    const lacks = [...onTables].map(([table, privileges]) => `${privileges.join(', ')} on ${tables[table]}`);
    if (onDatabase.length > 0) lacks.push(`${onDatabase.join(', ')} on ${db}.*`);
    return [missing(name, account, lacks, grants)];
  },
};

function missing(name: string, account: Account, lacks: readonly string[], grants: readonly string[]): Verdict {
  const facts = `${name} lacks privileges of a ${account}: ${lacks.join('; ')}`;
  const wayOut = `${grants.join('\n')}\n${OTHER_ACCOUNTS}`;
  // A role that is not active may have the privilege on the database.
  return account === 'migrator' && lacks.every((one) => one.endsWith('.*'))
    ? unknown(`${facts}, unless a role has them`, wayOut)
    : problem(facts, wayOut);
}

function grant(privileges: readonly string[], object: string, account: string): string {
  return `GRANT ${privileges.join(', ')} ON ${object} TO '${account.replace('@', `'@'`)}';`;
}

async function missingOnTables(patient: Patient): Promise<Map<keyof Tables, TablePrivilege[]>> {
  const needed = ACCOUNT_PRIVILEGES[patient.account].tables;
  const missing = new Map<keyof Tables, TablePrivilege[]>();
  for (const table of TABLES) {
    for (const privilege of needed[table] ?? []) {
      if (await hasPrivilege(patient, table, privilege)) continue;
      missing.set(table, [...(missing.get(table) ?? []), privilege]);
    }
  }
  return missing;
}

async function hasPrivilege({ database }: Patient, table: keyof Tables, privilege: TablePrivilege): Promise<boolean> {
  const column = Object.values(TABLE_SCHEMAS[table].columns)[0]!.name;
  try {
    await database.runIdempotent(() => query(PROBES[privilege](table, column)));
    return true;
  } catch (error) {
    if (hasCode(error, 'MISSING_PRIVILEGE')) return false;
    // The check of the tables reports a missing one.
    if (isMissingTable(error)) return true;
    throw error;
  }
}

/** CREATE, ALTER and INDEX cannot be tried without effect. */
async function missingOnDatabase({ database, account }: Patient, db: string): Promise<string[]> {
  const needed = ACCOUNT_PRIVILEGES[account].database;
  if (needed.length === 0) return [];
  const rows = await database.runIdempotent(() => query<Record<string, string>>('SHOW GRANTS'));
  const granted = rows.flatMap((row) => privilegesOn(db, Object.values(row)[0]!));
  return granted.includes('ALL PRIVILEGES') ? [] : needed.filter((privilege) => !granted.includes(privilege));
}

function privilegesOn(db: string, grant: string): string[] {
  const [, privileges, pattern] = /^GRANT (.+?) ON (.+?)\.\* TO /.exec(grant) ?? [];
  if (privileges === undefined || !matches(db, pattern!.replaceAll('`', ''))) return [];
  return privileges.split(', ');
}

/** A pattern as in LIKE, or `*`. */
function matches(db: string, pattern: string): boolean {
  if (pattern === '*') return true;
  const source = pattern.replace(/\\?./g, (part) => {
    if (part === '%') return '.*';
    if (part === '_') return '.';
    return part.replace(/^\\/, '').replace(/[^\w]/g, '\\$&');
  });
  return new RegExp(`^${source}$`).test(db);
}
