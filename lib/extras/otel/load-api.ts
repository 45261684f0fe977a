import type * as OpenTelemetryApi from '@opentelemetry/api';
import { requireHere } from '../../common/require-here.js';

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
