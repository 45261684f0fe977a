import type { ModuleRef } from '@nestjs/core';
import { InvalidOptionsError } from '../job/errors.js';

/**
 * A provider of an instance of SqlQueueModule, which need not be visible in the module of the caller.
 *
 * @param place the call that needs it
 * @throws InvalidOptionsError
 */
export function findProvider<T>(
  moduleRef: ModuleRef,
  token: string | object,
  instance: string | undefined,
  place: string,
): T {
  try {
    return moduleRef.get<T>(token as string, { strict: false });
  } catch {
    const missing = `SqlQueueModule.forRoot(${instance ? `{ name: '${instance}' }` : ''})`;
    throw new InvalidOptionsError(place, [`expected ${missing} in the application, got none`]);
  }
}
