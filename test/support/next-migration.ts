import { onTestFinished } from 'vitest';
import { MIGRATIONS, type Migration } from '../../lib/store/schema/migrations.js';

/** Lets this process, until the end of the test, have the tables of a later release. */
export function addNextMigration({ up, down }: Partial<Pick<Migration, 'up' | 'down'>> = {}): Migration {
  const version = MIGRATIONS.at(-1)!.version + 1;
  const nothing = () => [];
  const next = {
    version,
    name: `NextSqlQueueTables${1_790_000_000_000 + version}`,
    up: up ?? nothing,
    down: down ?? nothing,
  };
  const migrations = MIGRATIONS as Migration[];
  migrations.push(next);
  onTestFinished(() => void migrations.pop());
  return next;
}
