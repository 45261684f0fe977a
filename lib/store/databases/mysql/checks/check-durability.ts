import { query } from '../../../core/statement.js';
import { readVariables } from '../mysql-checks.js';
import { ok, problem, type LightCheck, type Verdict } from '../../../doctor/check.js';

interface Setting {
  readonly name: string;
  isSafe(value: string, all: Readonly<Record<string, string>>): boolean;
  readonly danger: string;
  readonly safe: string;
}

const SETTINGS: readonly Setting[] = [
  {
    name: 'innodb_flush_log_at_trx_commit',
    isSafe: (value) => value === '1',
    danger: 'A power failure, or a crash of the server with 0, loses the jobs and outcomes of the last second.',
    safe: '1',
  },
  {
    name: 'sync_binlog',
    isSafe: (value, { log_bin }) => value === '1' || log_bin !== 'ON',
    danger: 'After a power failure, replicas and the server can have different jobs.',
    safe: '1',
  },
  {
    name: 'innodb_doublewrite',
    isSafe: (value) => !['OFF', '0', 'DETECT_ONLY'].includes(value),
    danger:
      'A power failure during a write can destroy a page of a table. File systems with atomic writes are the exception.',
    safe: 'ON',
  },
  {
    name: 'innodb_flush_method',
    isSafe: (value) => !['nosync', 'littlesync'].includes(value),
    danger: 'The server does not wait for the disk, so a power failure loses commits or destroys tables.',
    safe: 'O_DIRECT',
  },
  {
    name: 'innodb_deadlock_detect',
    isSafe: (value) => value !== 'OFF',
    danger: 'A deadlock lasts until a lock wait times out: a second for the library, 50 seconds for other sessions.',
    safe: 'ON',
  },
];

const REDO_LOG = `
  SHOW GLOBAL STATUS
  WHERE Variable_name = 'Innodb_redo_log_enabled'`;

/** Settings with which a power failure loses committed jobs. */
export const checkDurability: LightCheck = {
  name: 'durability',
  isLight: true,
  async run({ database }) {
    const values = await readVariables(database, ['log_bin', ...SETTINGS.map(({ name }) => name)]);
    const verdicts: Verdict[] = SETTINGS.flatMap(({ name, isSafe, danger, safe }) => {
      const value = values[name];
      if (value === undefined || isSafe(value, values)) return [];
      return [problem(`${name} = ${value}`, `${danger} Set ${name} = ${safe}.`)];
    });
    const [redo] = await database.runIdempotent(() => query<{ Value: string }>(REDO_LOG));
    if (redo?.Value === 'OFF') {
      const wayOut = 'A crash of the server destroys all tables. Run: ALTER INSTANCE ENABLE INNODB REDO_LOG;';
      verdicts.push(problem('Innodb_redo_log_enabled = OFF', wayOut));
    }
    return verdicts.length > 0 ? verdicts : [ok('a commit is on the disk when the server confirms it')];
  },
};
