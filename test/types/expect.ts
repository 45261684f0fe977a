/** Whether two types are one and the same: `any`, `unknown` and optional properties are told apart. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only where its argument is true. */
export type Expect<T extends true> = T;
