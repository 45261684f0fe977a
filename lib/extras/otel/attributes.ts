import type { Attributes } from '@opentelemetry/api';

/** `messaging.operation.name`, and the first word of the names of spans. */
export type OperationName = 'send' | 'process' | 'claim' | 'complete';

const TYPES = { send: 'send', process: 'process', claim: 'receive', complete: 'settle' } as const;

const SYSTEM = 'nestjs_sql_queue';

/** Older backends read the deprecated `messaging.system`. */
export const SYSTEM_ATTRIBUTES = { 'messaging.system.name': SYSTEM, 'messaging.system': SYSTEM } as const;

/** The attributes that spans and measurements share. */
export function operationAttributes(operation: OperationName, queue: string | null): Attributes {
  return {
    ...SYSTEM_ATTRIBUTES,
    'messaging.operation.name': operation,
    'messaging.operation.type': TYPES[operation],
    ...queueAttributes(queue),
  };
}

export function queueAttributes(queue: string | null): Attributes {
  return queue === null ? {} : { 'messaging.destination.name': queue };
}

/** Of few values: the code of an error, or its name. */
export function errorAttributes(error: unknown): Attributes {
  if (error === undefined) return {};
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  if (typeof code === 'string' || typeof code === 'number') return { 'error.type': String(code) };
  return { 'error.type': typeof name === 'string' ? name : '_OTHER' };
}
