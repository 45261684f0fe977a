// scripts/test.mjs starts Vitest and provides the database servers. Without it, Vitest runs all suites on SQLite only.
// The board serves its page beside its source, so that is built first.
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ENTRY_POINTS } from './scripts/bundle/entry-points.mjs';
import { providePage } from './scripts/bundle/page.mjs';
import LongestFirst from './scripts/longest-first.mjs';

// `npm test` runs the short tests, `npm test -- --long` the long ones, those of Nest 11 and those of further lines of
// OpenTelemetry; without a set Vitest runs all.
const set = process.env.SQL_QUEUE_TEST_SET;
const isLong = set === 'long' || set === 'full';

// A limit for tests that hang. Slow machines take many times as long as the tests need elsewhere.
const timeout = 300_000;

// The third line of the SDK of OpenTelemetry needs Node 22.15.
const [major, minor] = process.versions.node.split('.').map(Number);
const hasOtel3 = major > 22 || (major === 22 && minor >= 15);

await providePage();

const own = Object.entries(ENTRY_POINTS).map(([name, file]) => ({
  find: new RegExp(`^nestjs-sql-queue${name === 'index' ? '' : `/${name}`}$`),
  replacement: pathOf(`lib/${file}`),
}));

/**
 * A set of files, with the versions of Nest and OpenTelemetry that they run on. A process runs many files, one after
 * the other, and loads the library once. With `isolate` it runs one file.
 */
function project(name, include, { nest = 12, otel = 2, alias = [], exclude = [], isolate = false } = {}) {
  return {
    define: { NEST_MAJOR: nest, OTEL_MAJOR: otel },
    oxc: { target: 'es2022', decorator: { legacy: true, emitDecoratorMetadata: true } },
    resolve: { alias: [...own, ...alias] },
    test: {
      name,
      include,
      exclude: ['**/node_modules/**', ...exclude],
      isolate,
      pool: 'forks',
      // Most objects are short-lived answers of a database: with twice the usual young generation, tests use less CPU.
      execArgv: ['--max-semi-space-size=32'],
      globals: true,
      setupFiles: [fileURLToPath(import.meta.resolve('reflect-metadata'))],
      testTimeout: timeout,
      hookTimeout: timeout,
      // Vitest would run the hooks after a test in the reverse order.
      sequence: { hooks: 'list' },
    },
  };
}

/** The tests of OpenTelemetry with another line of its SDK than that of package.json. */
const otel = (line, alias) => project(`otel${line}`, ['test/nest/open-telemetry.spec.ts'], { otel: line, alias });

// These replace methods of TypeORM for the whole process.
const ORMS = ['test/orms/**/*.long.spec.ts'];

// These read state of the whole process, such as all decorated classes.
const ALONE = ['test/nest/queues-without-handlers.spec.ts', 'test/nest/unprovided-classes.spec.ts'];

export default defineConfig({
  test: {
    // Tests wait for a database half of their time, so two more workers than cores are busy.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    // In milliseconds. The output names slower tests.
    slowTestThreshold: 10_000,
    projects: [
      project('nest12', [isLong ? 'test/**/*.long.spec.ts' : 'test/**/*.spec.ts'], {
        exclude: [
          ...ALONE,
          ...ORMS,
          ...(set ? ['**/*.nightly.spec.ts'] : []),
          ...(set === 'short' ? ['**/*.long.spec.ts'] : []),
        ],
      }),
      !isLong && project('alone', ALONE, { isolate: true }),
      set !== 'short' && project('orms', ORMS, { isolate: true }),
      set !== 'short' &&
        project('nest11', ['test/nest/**/*.spec.ts'], {
          nest: 11,
          isolate: true,
          alias: [{ find: /^(@nestjs\/.*)$/, replacement: pathOf('test/nest11/node_modules/$1') }],
        }),
      set !== 'short' &&
        otel(1, [
          {
            find: /^(@opentelemetry\/(core|context-async-hooks|sdk-metrics|sdk-trace-base))$/,
            replacement: pathOf('test/otel1/node_modules/$1'),
          },
        ]),
      set !== 'short' &&
        hasOtel3 &&
        otel(3, [
          { find: /^@opentelemetry\/sdk-trace-base$/, replacement: pathOf('test/otel3/sdk-trace-base.ts') },
          {
            find: /^(@opentelemetry\/(api|core|context-async-hooks|sdk-metrics))$/,
            replacement: pathOf('test/otel3/node_modules/$1'),
          },
        ]),
    ].filter(Boolean),
  },
});

function pathOf(file) {
  return resolve(import.meta.dirname, file);
}
