import { useEffect, useRef, useState } from 'preact/hooks';
import { failureOf, isForbidden, read, type Query, type ReadFailure } from '../api.js';
import { hasActedSince, isPaused, turn } from './live.js';

export interface Reading<Answer> {
  /**
   * Undefined before the first answer, and without the right to it. The last one stays while the next one is on its way, or
   * if that fails.
   */
  readonly data: Answer | undefined;
  readonly error: ReadFailure | undefined;
  /** The turn in which the read of the data began. */
  readonly turn: number;
  reload(): void;
}

interface State<Answer> {
  readonly key: string;
  readonly data?: Answer | undefined;
  readonly error?: ReadFailure | undefined;
  readonly turn: number;
}

/**
 * An answer of the server that follows the live updates. With another key it begins anew.
 *
 * @param everyMs the least time between two reads; an action of the viewer reads at once. Infinity: read once
 */
export function useRead<Answer>(key: string, load: () => Promise<Answer>, everyMs = 0): Reading<Answer> {
  const [state, setState] = useState<State<Answer>>({ key, turn: -1 });
  const last = useRef({ key: '', atMs: 0, turn: -1, isReading: false });
  const isDue = () => {
    const { atMs, turn: readIn } = last.current;
    if (everyMs === Infinity) return false;
    return hasActedSince(readIn) || (turn.peek() > readIn && Date.now() - atMs >= everyMs);
  };
  const start = () => {
    const readIn = turn.peek();
    const own = { key, atMs: Date.now(), turn: readIn, isReading: true };
    last.current = own;
    const settle = (result: Partial<State<Answer>>) => {
      // A later read has begun, or the page has gone.
      if (last.current !== own) return;
      own.isReading = false;
      setState((before) => ({ turn: -1, ...(before.key === key && before), key, error: undefined, ...result }));
      // Answers may be slower than the updates.
      if (!isPaused.peek() && isDue()) start();
    };
    load().then(
      (data) => settle({ data, turn: readIn }),
      (reason) => {
        const error = failureOf(reason);
        settle({ error, ...(isForbidden(error) && { data: undefined }) });
      },
    );
  };
  const latest = useRef(start);
  latest.current = start;
  const current = turn.value;
  useEffect(() => {
    if (last.current.key !== key) return latest.current();
    if (!isPaused.peek() && !last.current.isReading && isDue()) latest.current();
  }, [key, current]);
  useEffect(
    () => () => {
      last.current = { ...last.current, key: '' };
    },
    [],
  );
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    turn: state.turn,
    reload: () => latest.current(),
  };
}

/** The answer to one request, which is its own key. */
export function useAnswer<Answer>(name: string, query: Query = {}, everyMs = 0): Reading<Answer> {
  return useRead(JSON.stringify([name, query]), () => read<Answer>(name, query), everyMs);
}
