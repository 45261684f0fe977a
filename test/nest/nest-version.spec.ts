import { createRequire } from 'node:module';
import { APP_GUARD } from '@nestjs/core';

declare const NEST_MAJOR: number;

const require = createRequire(import.meta.url);

describe('the Nest of these test suites', () => {
  it.each(['common', 'core', 'typeorm'])('uses @nestjs/%s in the version of its test project', (name) => {
    const { version } = require(`@nestjs/${name}/package.json`) as { version: string };

    expect(Number.parseInt(version, 10)).toBe(NEST_MAJOR);
    expect(APP_GUARD).toBe('APP_GUARD');
  });
});
