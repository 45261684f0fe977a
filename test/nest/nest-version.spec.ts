import { APP_GUARD } from '@nestjs/core';
import common from '@nestjs/common/package.json' with { type: 'json' };
import core from '@nestjs/core/package.json' with { type: 'json' };
import typeorm from '@nestjs/typeorm/package.json' with { type: 'json' };

declare const NEST_MAJOR: number;

describe('the Nest of these test suites', () => {
  it.each([common, core, typeorm])('is $name in the version of its test project', ({ version }) => {
    expect(Number.parseInt(version, 10)).toBe(NEST_MAJOR);
    expect(APP_GUARD).toBe('APP_GUARD');
  });
});
