import type { HealthIndicatorService } from '@nestjs/terminus';
import { InvalidOptionsError } from '../../job/errors.js';

/** Loaded at the start of the application, so that the error of a missing package says how to install it. */
export async function loadTerminus(): Promise<HealthIndicatorService> {
  const loaded = await import('@nestjs/terminus').catch((error: Error) => {
    throw new InvalidOptionsError('SqlQueueTerminusModule', [
      `expected the package @nestjs/terminus 11 or 12, got none: npm install @nestjs/terminus (${error.message})`,
    ]);
  });
  return new loaded.HealthIndicatorService();
}
