import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api.js';
import { isActionTurn, isPaused, turn } from './live.js';

export interface Reading<Answer> {
  /** Undefined before the first answer. The last one stays while the next one is on its way, or if that fails. */
  readonly data: Answer | undefined;
  readonly error: string | undefined;
  reload(): void;
}

/**
 * An answer of the server that follows the live updates. With another key it begins anew.
 *
 * @param everyMs the least time between two reads; an action of the viewer reads at once
 */
export function useRead<Answer>(key: string, load: () => Promise<Answer>, everyMs = 0): Reading<Answer> {
  const [state, setState] = useState<{ key: string; data?: Answer; error?: string }>({ key });
  const last = useRef({ key: '', atMs: 0, isReading: false, wants: false });
  const start = () => {
    last.current = { key, atMs: Date.now(), isReading: true, wants: false };
    const settle = (result: { data?: Answer; error?: string }) => {
      if (last.current.key !== key) return;
      last.current.isReading = false;
      setState((before) => ({ key, ...(before.key === key && before), error: undefined, ...result }));
      if (last.current.wants) start();
    };
    load().then(
      (data) => settle({ data }),
      (error) => settle({ error: messageOf(error) }),
    );
  };
  const latest = useRef(start);
  latest.current = start;
  const current = turn.value;
  useEffect(() => {
    const { key: lastKey, atMs, isReading } = last.current;
    if (lastKey !== key) return latest.current();
    if (isPaused.peek()) return;
    // Answers may be slower than the updates.
    if (isReading) last.current.wants = true;
    else if (Date.now() - atMs >= everyMs || isActionTurn(current)) latest.current();
  }, [key, current]);
  useEffect(
    () => () => {
      last.current.key = '';
    },
    [],
  );
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    reload: () => latest.current(),
  };
}
