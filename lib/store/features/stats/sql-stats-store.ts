import { isWhole } from '../../../job/identifiers.js';
import { parseJsonOrNull } from '../../core/parse-json.js';
import type { Dialect } from '../../core/sql-database.js';
import type { StoreParts } from '../../rows/store-parts.js';
import { execute, query, type Work } from '../../core/statement.js';
import { sampleQueues } from './sample-queues.js';
import type { LastSample, StatsSample, StatsStore } from './stats-store.js';
import type { TableRow } from '../../tables/table-schemas.js';

const READ = `
  SELECT sample, sampled_at, took_ms, :now AS at
  FROM {stats}
  WHERE id = 1`;

const ADD = (lockDuplicate: string) => `
  INSERT INTO {stats} (id)
  VALUES (1)
  ${lockDuplicate}`;

const LEASE_MS = 30_000;

// A time that another program has written may be no exact number, so that no process could name it.
const IS_AFTER = `(sampled_at = :after OR sampled_at NOT BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER})`;

// The lease of a killed process ends. One that ends much later was written before the server clock was set back, and not
// just while this statement waited for the row.
const TAKE_LEASE = `
  UPDATE {stats} {by primary}
  SET lease_until = :now + ${LEASE_MS}
  WHERE id = 1 AND ${IS_AFTER} AND lease_until NOT BETWEEN :now AND :now + ${2 * LEASE_MS}`;

const SAVE = `
  UPDATE {stats} {by primary}
  SET sample = :sample, sampled_at = :sampledAtMs, took_ms = :tookMs, lease_until = 0
  WHERE id = 1`;

const NO_SAMPLE: LastSample = { queues: null, sampledAtMs: 0, tookMs: 0, ageMs: 0 };
const COUNTS = ['waiting', 'scheduled', 'blocked', 'staged', 'dead'] as const;
// A longer time was written by another program: it would keep an old sample for ever.
const MAX_TOOK_MS = 600_000;

type StatsRow = Pick<TableRow<'stats'>, 'sample' | 'sampled_at' | 'took_ms'> & { readonly at: number };

export function sqlStatsStore({ database, dialect, clock }: StoreParts): StatsStore {
  const sample = () => database.runIdempotent(() => sampleQueues(dialect));
  return {
    sample,

    async read() {
      const [row] = await database.runIdempotent(() => query<StatsRow>(READ));
      return row ? toLastSample(row) : NO_SAMPLE;
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

/** No sample if another program has damaged the row. The next sample replaces it. */
function toLastSample({ sample, sampled_at, took_ms, at }: StatsRow): LastSample {
  const queues = parseJsonOrNull<StatsSample['queues']>(sample);
  const [sampledAtMs, tookMs] = [Number(sampled_at), Number(took_ms)];
  if (!isWhole(sampledAtMs, 0, Number.MAX_SAFE_INTEGER)) return NO_SAMPLE;
  if (!isWhole(tookMs, 0, MAX_TOOK_MS) || !isSample(queues)) return { ...NO_SAMPLE, sampledAtMs };
  return { queues, sampledAtMs, tookMs, ageMs: Number(at) - sampledAtMs };
}

function isSample(queues: StatsSample['queues'] | null): queues is StatsSample['queues'] {
  return Array.isArray(queues) && queues.every((one) => typeof one?.queue === 'string' && COUNTS.every(isCount(one)));
}

const isCount = (one: StatsSample['queues'][number]) => (name: (typeof COUNTS)[number]) =>
  typeof one[name]?.value === 'number';

function* takeLease(dialect: Dialect, after: number): Work<boolean> {
  if (after === 0) yield* execute(ADD(dialect.lockDuplicate('id')));
  return (yield* execute(TAKE_LEASE, { after })) > 0;
}
