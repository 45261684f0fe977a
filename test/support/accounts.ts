import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import type { World } from './engines.js';

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/security.md'), 'utf8');

/** The statements of the guide on accounts. */
export const GUIDE_GRANTS = [...GUIDE.matchAll(/^GRANT [^;]+;$/gm)].map(([statement]) => statement);

/** A DataSource of an account with exactly these grants, by default those of the guide for its kind. */
export async function account(
  { sql, connection, connect, afterTest }: World,
  who: string,
  grants = GUIDE_GRANTS.filter((grant) => grant.includes(`'${who}'@`)),
): Promise<DataSource> {
  const name = `${who}_${randomBytes(4).toString('hex')}`;
  const [{ database }] = (await sql<{ database: string }>('SELECT DATABASE() AS `database`')) as [{ database: string }];
  await sql(`CREATE USER '${name}'@'%'`);
  afterTest(() => sql(`DROP USER '${name}'@'%'`));
  for (const grant of grants) {
    await sql(grant.replace(' app.', ` ${database}.`).replace(/'\w+'@/, `'${name}'@`));
  }
  const url = new URL((connection as { url: string }).url);
  url.username = name;
  return connect({ url: url.href });
}
