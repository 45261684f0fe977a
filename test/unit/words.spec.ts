import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expand } from '../../lib/store/core/template.js';
import { mariadb, mysql } from '../../lib/store/databases/mysql/mysql.js';
import { sqlite } from '../../lib/store/databases/sqlite/sqlite.js';
import { tableNames } from '../../lib/store/tables/table-names.js';

const LIB = join(import.meta.dirname, '../../lib');
const LOCK = /\{(?:lock|lock free|\$\{lock\})\}/;

const sources = readdirSync(LIB, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(LIB, file), 'utf8') }));
const locking = sources.flatMap(({ file, text }) =>
  (text.match(/`[^`]*`/g) ?? []).filter((sql) => LOCK.test(sql)).map((sql) => ({ file, sql: sql.slice(1, -1) })),
);

describe('the words of a statement', () => {
  it.each([mysql, mariadb])('lock the rows of every statement that must lock them, on $name', ({ words }) => {
    expect(locking.length).toBeGreaterThan(40);
    for (const { file, sql } of locking) {
      const given = sql
        .replaceAll('{${lock}}', '{lock}')
        .replaceAll('{${table}}', '{jobs}')
        .replace(/\$\{[^}]*\}/g, 'x');
      const [locks] =
        expand(given.replace(/\{by [^}]*\bx\b[^}]*\}/g, ''), tableNames(), words).match(/FOR UPDATE/g) ?? [];
      expect({ file, sql, locks }).toEqual({ file, sql, locks: 'FOR UPDATE' });
    }
  });

  it('leave out locks on SQLite, where one transaction writes at a time', () => {
    expect(sqlite.hasOneWriter).toBe(true);
    expect([sqlite.words.lock, sqlite.words.lockFree]).toEqual(['', '']);
  });

  it('are never written as comments for one server, which another one would ignore', () => {
    const outsideOfServers = sources.filter(({ file }) => !file.startsWith('store/databases/mysql/'));

    expect(outsideOfServers.filter(({ text }) => /\/\*M?!/.test(text)).map(({ file }) => file)).toEqual([]);
  });

  it('stand for all locks and hints in statements outside of the folders of the databases', () => {
    const shared = sources.filter(({ file }) => !/^store\/(?:databases|schema\/migrations)\//.test(file));
    const statements = shared.flatMap(({ file, text }) => (text.match(/`[^`]*`/g) ?? []).map((sql) => ({ file, sql })));

    const ofOneServer = /FOR UPDATE|FORCE INDEX|SKIP LOCKED|INDEXED BY|STRAIGHT_JOIN|ON DUPLICATE|ON CONFLICT/;
    expect(statements.filter(({ sql }) => /\b(?:FROM|INTO|UPDATE)\b/.test(sql) && ofOneServer.test(sql))).toEqual([]);
  });
});
