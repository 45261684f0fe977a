import { parseJsonOrNull } from '../core/parse-json.js';
import type { Dialect } from '../core/sql-database.js';
import type { StoreParts } from '../store-parts.js';
import { execute, query, type Work } from '../core/statement.js';
import { sampleQueues } from './sample-queues.js';
import type { StatsSample, StatsStore } from './stats-store.js';
import type { TableRow } from '../schema/entities/table-schemas.js';

const READ = `
  SELECT sample, sampled_at, took_ms, :now AS at
  FROM {stats}
  WHERE id = 1`;

const ADD = (lockDuplicate: string) => `
  INSERT INTO {stats} (id)
  VALUES (1)
  ${lockDuplicate}`;

const LEASE_MS = 30_000;

// The lease of a killed process ends. One that ends much later was written before the server clock was set back, and not
// just while this statement waited for the row.
const TAKE_LEASE = `
  UPDATE {stats} /*! FORCE INDEX (PRIMARY) */
  SET lease_until = :now + ${LEASE_MS}
  WHERE id = 1 AND sampled_at = :after AND lease_until NOT BETWEEN :now AND :now + ${2 * LEASE_MS}`;

const SAVE = `
  UPDATE {stats} /*! FORCE INDEX (PRIMARY) */
  SET sample = :sample, sampled_at = :sampledAtMs, took_ms = :tookMs, lease_until = 0
  WHERE id = 1`;

type StatsRow = Pick<TableRow<'stats'>, 'sample' | 'sampled_at' | 'took_ms'> & { readonly at: number };

export function sqlStatsStore({ database, dialect, clock }: StoreParts): StatsStore {
  const sample = () => database.runIdempotent(() => sampleQueues(dialect));
  return {
    sample,

    async read() {
      const [row] = await database.runIdempotent(() => query<StatsRow>(READ));
      if (!row) return { queues: null, sampledAtMs: 0, tookMs: 0, ageMs: 0 };
      const queues = parseJsonOrNull<StatsSample['queues']>(row.sample);
      const sampledAtMs = Number(row.sampled_at);
      const ageMs = Number(row.at) - sampledAtMs;
      return { queues: Array.isArray(queues) ? queues : null, sampledAtMs, tookMs: Number(row.took_ms), ageMs };
    },

    takeLease: (after) => database.runIdempotent(() => takeLease(dialect, after)),

    async takeSample() {
      const startedAt = clock.monotonic();
      const { queues, sampledAtMs } = await sample();
      const tookMs = Math.ceil(clock.monotonic() - startedAt);
      await database.runIdempotent(() => execute(SAVE, { sample: JSON.stringify(queues), sampledAtMs, tookMs }));
      return { queues, sampledAtMs, tookMs };
    },
  };
}

function* takeLease(dialect: Dialect, after: number): Work<boolean> {
  if (after === 0) yield* execute(ADD(dialect.lockDuplicate('id')));
  return (yield* execute(TAKE_LEASE, { after })) > 0;
}
