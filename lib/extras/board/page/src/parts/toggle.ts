import type { Action } from './action.js';

interface Target {
  /** As in the name of the button. */
  readonly name: string;
  /** Of the verbs. */
  readonly suffix?: '' | '-group' | '-schedule';
  readonly body: object;
  done(past: 'paused' | 'resumed'): string;
}

/** Pauses something or, if it is paused, resumes it. Each is the way back of the other one. */
export function toggleAction(isPaused: boolean, { name, suffix = '', body, done }: Target): Action {
  const [verb, back] = isPaused ? (['resume', 'pause'] as const) : (['pause', 'resume'] as const);
  const text = isPaused ? 'Resume' : 'Pause';
  return {
    verb: `${verb}${suffix}`,
    text,
    label: `${text} ${name}`,
    body: () => body,
    done: () => done(`${verb}d`),
    undo: { verb: `${back}${suffix}`, body: () => body, done: () => done(`${back}d`) },
  };
}

export function queueToggle({ queue, paused }: { queue: string; paused: boolean }): Action {
  return toggleAction(paused, {
    name: queue,
    body: { queue },
    done: (past) => `Queue ${queue} is ${past}. Running jobs continue.`,
  });
}
