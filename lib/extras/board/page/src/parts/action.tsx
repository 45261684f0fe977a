import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { write, type WriteAnswer } from '../api.js';
import type { Verb } from '../answers.js';
import { refresh } from '../live/live.js';
import { ask } from './dialog.js';
import type { Field, Values } from './field.js';
import { Icon, type IconName } from './icons.js';
import { announce, announceError } from './toasts.js';

export interface Action {
  readonly verb: Verb;
  /** The text of the button. */
  readonly text: string;
  /** The whole name, if the text depends on its row. */
  readonly label?: string;
  /** The question; without one, and without fields, the action runs at once. */
  readonly confirm?: string;
  readonly content?: ComponentChildren;
  readonly fields?: readonly Field[];
  /** After the fields, for their present values. */
  readonly result?: (values: Values) => ComponentChildren;
  readonly isDangerous?: boolean;
  body(values: Values): object;
  /** The message after it. */
  done(answer: WriteAnswer): string;
  /** The way back. */
  readonly undo?: Pick<Action, 'verb' | 'body' | 'done'>;
  /** Runs after it; then the page reads its data again. */
  after?(answer: WriteAnswer): unknown;
}

interface Props {
  readonly verbs: readonly Verb[];
  readonly action: Action;
  readonly icon?: IconName;
  readonly isPrimary?: boolean;
  /** Only the icon is visible. */
  readonly isIcon?: boolean;
  readonly hotkey?: string;
}

/** A button, or nothing without the right. The server checks the right again. */
export function ActionButton({ verbs, action, icon, isPrimary, isIcon, hotkey }: Props) {
  const [isRunning, setRunning] = useState(false);
  if (!verbs.includes(action.verb)) return null;
  const start = async () => {
    setRunning(true);
    await startAction(action);
    setRunning(false);
  };
  const name = isIcon ? 'icon-button' : isPrimary ? 'primary' : action.isDangerous ? 'danger' : '';
  const label = action.label ?? (isIcon ? action.text : undefined);
  return (
    // The attribute `disabled` would take the focus away.
    <button
      type="button"
      class={name}
      data-verb={action.verb}
      aria-label={label}
      title={isIcon ? label : undefined}
      aria-disabled={isRunning}
      onClick={() => !isRunning && void start()}
    >
      {icon && <Icon name={icon} size={isIcon ? 16 : 14} />}
      {!isIcon && action.text}
      {hotkey && <kbd aria-hidden="true">{hotkey}</kbd>}
    </button>
  );
}

/** Asks if the action has a question, and runs it otherwise. */
export async function startAction(action: Action): Promise<void> {
  const { confirm, fields, content, result, text, isDangerous } = action;
  if (confirm !== undefined || fields)
    return ask({
      ...{ title: confirm ?? text, fields, content, result, submit: text, isDangerous },
      act: (values) => run(action, values),
    });
  await run(action, {}).catch(announceError);
}

async function run(action: Pick<Action, 'verb' | 'body' | 'done' | 'undo' | 'after'>, values: Values): Promise<void> {
  const answer = await write(action.verb, action.body(values));
  const { undo } = action;
  announce(action.done(answer), undo && (() => void run(undo, {}).catch(announceError)));
  await action.after?.(answer);
  await refresh();
}
