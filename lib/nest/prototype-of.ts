import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';

/** Undefined if the provider can have no methods. */
export function prototypeOf(wrapper: InstanceWrapper): object | undefined {
  if (wrapper.isAlias) return undefined;
  const instance = wrapper.instance as object | null | undefined;
  // Nest knows no class for values and for results of factories, so the object decides.
  if (wrapper.isNotMetatype || !wrapper.metatype) {
    return typeof instance === 'object' && instance !== null ? methodsOf(Object.getPrototypeOf(instance)) : undefined;
  }
  return methodsOf((wrapper.metatype as { prototype?: object }).prototype);
}

function methodsOf(prototype: object | null | undefined): object | undefined {
  return prototype && prototype !== Object.prototype && typeof prototype.constructor === 'function'
    ? prototype
    : undefined;
}
