/** A value, or a promise of it. An `await` for each job costs time, so a promise is made only if it is needed. */
export type MaybePromise<T> = T | Promise<T>;

export function andThen<T, U>(value: MaybePromise<T>, apply: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(apply) : apply(value);
}

/** Recognizes promises of another realm, too, as those of Node in Jest. Functions of the application return them. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
