/** Whether two types are identical. It distinguishes `any`, `unknown` and optional properties. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if its argument is true. */
export type Expect<T extends true> = T;
