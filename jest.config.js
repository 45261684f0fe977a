// Started by scripts/test.mjs, which provides the database servers. On its own, with
// NODE_OPTIONS=--experimental-vm-modules, Jest runs the same suites on SQLite alone.
import { availableParallelism } from 'node:os';

const own = {
  '^(\\.{1,2}/.*)\\.js$': '$1',
  '^nestjs-sql-queue$': '<rootDir>/lib/index.ts',
  '^nestjs-sql-queue/testing$': '<rootDir>/lib/testing/index.ts',
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

export default {
  testTimeout: 30_000,
  // Jest leaves one core free. A test spends half its time waiting for a database to answer, so one more has work to do.
  maxWorkers: availableParallelism() + 1,
  testSequencer: '<rootDir>/scripts/longest-first.mjs',
  projects: [
    {
      ...project,
      displayName: 'nest12',
      testMatch: ['<rootDir>/test/**/*.spec.ts'],
      globals: { NEST_MAJOR: 12 },
    },
    {
      ...project,
      displayName: 'nest11',
      testMatch: ['<rootDir>/test/nest/**/*.spec.ts'],
      globals: { NEST_MAJOR: 11 },
      moduleNameMapper: { ...own, '^(@nestjs/.*)$': '<rootDir>/test/nest11/node_modules/$1' },
    },
  ],
};
