// The tests of the samples run in Jest: `npm test` starts it. The options are those of `nest new`, but for ES modules and
// with SWC, because ts-jest does not support TypeScript 7. docs/testing.md shows them.
import { ENTRY_POINTS } from '../scripts/bundle/entry-points.mjs';

const project = {
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['js', 'json', 'ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testRegex: '.*\\.spec\\.ts$',
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
      },
    ],
  },
  testEnvironment: 'node',
};

// A sample imports the package by its name. Here this name means the sources, so that no build is needed.
const sources = Object.fromEntries(
  Object.entries(ENTRY_POINTS).map(([name, file]) => [
    `^nestjs-sql-queue${name === 'index' ? '' : `/${name}`}$`,
    `<rootDir>/../lib/${file}`,
  ]),
);

export default {
  ...project,
  moduleNameMapper: { ...sources, ...project.moduleNameMapper },
  setupFilesAfterEnv: ['<rootDir>/jest.setup.ts'],
  maxWorkers: '100%',
  // A limit for tests that hang. Slow machines take many times as long as the tests need elsewhere.
  testTimeout: 300_000,
};
