import { createRequire } from 'node:module';
import { APP_GUARD } from '@nestjs/core';

declare const NEST_MAJOR: number;

const require = createRequire(import.meta.url);

describe('the Nest these suites run on', () => {
  it.each(['common', 'core', 'typeorm'])('@nestjs/%s has the version the project is named after', (name) => {
    const { version } = require(`@nestjs/${name}/package.json`) as { version: string };

    expect(Number.parseInt(version, 10)).toBe(NEST_MAJOR);
    expect(APP_GUARD).toBe('APP_GUARD');
  });
});
