// scripts/test.mjs starts Jest and provides the database servers. Without it, and with
// NODE_OPTIONS=--experimental-vm-modules, Jest runs all suites on SQLite only.
import { availableParallelism } from 'node:os';

// `npm test` runs the short tests, `npm run test:full` the long ones, those of Nest 11 and those of further lines of
// OpenTelemetry; without a set Jest runs all.
const set = process.env.SQL_QUEUE_TEST_SET;

const own = {
  '^(\\.{1,2}/.*)\\.js$': '$1',
  '^nestjs-sql-queue$': '<rootDir>/lib/index.ts',
  '^nestjs-sql-queue/(testing|terminus|prometheus|otel|board|bull-board)$': '<rootDir>/lib/$1/index.ts',
  // The copy of @fastify/static has ES modules alone, which Node can require and Jest cannot.
  '^content-disposition$': '<rootDir>/node_modules/content-disposition',
};

const project = {
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/lib', '<rootDir>/test', '<rootDir>/sample'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: own,
  setupFiles: ['reflect-metadata'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
};

// The third line of the SDK of OpenTelemetry needs Node 22.15.
const [major, minor] = process.versions.node.split('.').map(Number);
const hasOtel3 = major > 22 || (major === 22 && minor >= 15);

/** The tests of OpenTelemetry with another line of its SDK than that of package.json. */
const otel = (line, mapper) => ({
  ...project,
  displayName: `otel${line}`,
  testMatch: ['<rootDir>/test/nest/open-telemetry.spec.ts'],
  globals: { NEST_MAJOR: 12, OTEL_MAJOR: line },
  moduleNameMapper: { ...own, ...mapper },
});

export default {
  // A limit for tests that hang. Slow machines take several times as long as the tests need elsewhere.
  testTimeout: set === 'short' ? 60_000 : 300_000,
  // By default Jest leaves one core free. Tests wait for a database half of their time, so three more workers are busy.
  maxWorkers: availableParallelism() + 2,
  testSequencer: '<rootDir>/scripts/longest-first.mjs',
  projects: [
    {
      ...project,
      displayName: 'nest12',
      testMatch: [set === 'long' ? '<rootDir>/test/**/*.long.spec.ts' : '<rootDir>/test/**/*.spec.ts'],
      testPathIgnorePatterns: ['/node_modules/', ...(set === 'short' ? ['\\.long\\.spec\\.ts$'] : [])],
      globals: { NEST_MAJOR: 12, OTEL_MAJOR: 2 },
    },
    set !== 'short' && {
      ...project,
      displayName: 'nest11',
      testMatch: ['<rootDir>/test/nest/**/*.spec.ts'],
      globals: { NEST_MAJOR: 11, OTEL_MAJOR: 2 },
      moduleNameMapper: { ...own, '^(@nestjs/.*)$': '<rootDir>/test/nest11/node_modules/$1' },
    },
    set !== 'short' &&
      otel(1, {
        '^(@opentelemetry/(core|context-async-hooks|sdk-metrics|sdk-trace-base))$':
          '<rootDir>/test/otel1/node_modules/$1',
      }),
    set !== 'short' &&
      hasOtel3 &&
      otel(3, {
        '^@opentelemetry/sdk-trace-base$': '<rootDir>/test/otel3/sdk-trace-base.ts',
        '^(@opentelemetry/(api|core|context-async-hooks|sdk-metrics))$': '<rootDir>/test/otel3/node_modules/$1',
      }),
  ].filter(Boolean),
};
