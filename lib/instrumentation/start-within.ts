/** A method that surrounds a call, with the `next` of the call. */
type Surround<Result> = (next: () => Promise<Result>) => unknown;

/**
 * Starts a call inside of the given methods, the first one outermost. It starts exactly once, and before this function
 * returns: a method that has not called `next` by then is left out, so no method can delay the call or keep it away.
 *
 * @param start starts the call and never throws. Returns its end
 * @param onError receives the errors of the methods, by their positions, unless they are those of the call
 */
export function startWithin<Result>(
  methods: readonly Surround<Result>[],
  start: () => Promise<Result>,
  onError: (index: number, error: unknown) => void,
): void {
  let ended!: Promise<Result>;
  const enter = (index: number): void => {
    const method = methods[index];
    if (!method) return void (ended = start());
    let isEntered = false;
    const next = () => {
      if (!isEntered) {
        isEntered = true;
        enter(index + 1);
      }
      return ended;
    };
    const returned = attempt(() => method(next));
    const hasEntered = isEntered;
    void next();
    void returned.then(
      () => hasEntered || onError(index, new Error('it did not call next() before it returned or awaited')),
      async (error: unknown) => (await isErrorOf(ended, error)) || onError(index, error),
    );
  };
  enter(0);
}

/** Turns a thrown error into a rejection. */
async function attempt(act: () => unknown): Promise<void> {
  await act();
}

function isErrorOf(call: Promise<unknown>, error: unknown): Promise<boolean> {
  return call.then(
    () => false,
    (reason: unknown) => reason === error,
  );
}
