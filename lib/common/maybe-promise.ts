/** A value, or a promise of it. An `await` for each job costs time, so a promise is made only if it is needed. */
export type MaybePromise<T> = T | Promise<T>;

export function andThen<T, U>(value: MaybePromise<T>, apply: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(apply) : apply(value);
}
