import { createRequire } from 'node:module';
import type * as OpenTelemetryApi from '@opentelemetry/api';

// The build replaces import.meta by __filename in the CommonJS output.
// @ts-ignore TS1343: import.meta in the CommonJS output.
const requireHere = createRequire(import.meta.url);

export type Api = typeof OpenTelemetryApi;

/** Loads the API of the application. Its state is global, so all copies of the package share it. */
export function loadApi(): Api {
  try {
    return requireHere('@opentelemetry/api') as Api;
  } catch (error) {
    throw new Error(
      'nestjs-sql-queue/otel needs the package @opentelemetry/api 1.9 or newer, which cannot be loaded. Run ' +
        '`npm install @opentelemetry/api`.',
      { cause: error },
    );
  }
}
