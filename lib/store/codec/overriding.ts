/** An object with the given methods, and with those of `target` for the rest. */
export function overriding<Target extends object>(target: Target, methods: Partial<Target>): Target {
  return new Proxy(target, {
    get: (_, name) => {
      const own = (methods as Record<PropertyKey, unknown>)[name];
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      // Bound, because private fields belong to the target and not to the proxy.
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
