import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icons.js';

/** A state as icon, word and colour. */
export function State({ state, text = state }: { state: IconName; text?: ComponentChildren }) {
  return (
    <span class={`state s-${state}`}>
      <Icon name={state} size={15} />
      {text}
    </span>
  );
}

const STATES = ['waiting', 'scheduled', 'active', 'blocked', 'completed', 'dead', 'cancelled', 'removed'] as const;

/** The icon of the state of a job. A newer server may have further states. */
export function iconOf(state: string): IconName {
  return STATES.find((one) => one === state) ?? 'idle';
}

export function JobState({ state }: { state: string }) {
  return <State state={iconOf(state)} text={state} />;
}

const PILLS = {
  dead: 'broken',
  cancelled: 'idle',
  completed: 'ok',
  active: 'active',
} as const;

export type Tone = 'broken' | 'attention' | 'ok' | 'active' | 'idle';

export const toneOf = (state: string): Tone => PILLS[state as 'dead'] ?? 'idle';

/** A state beside a heading. */
export function Pill({ tone, icon, children }: { tone: Tone; icon: IconName; children: ComponentChildren }) {
  return (
    <span class={`pill pl-${tone}`}>
      <Icon name={icon} size={14} />
      <span>{children}</span>
    </span>
  );
}
