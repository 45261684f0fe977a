import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api.js';
import { FieldControl, valuesOf, type Field, type Values } from './field.js';

export interface Question {
  readonly title: string;
  /** Before the fields. */
  readonly content?: ComponentChildren;
  readonly fields?: readonly Field[] | undefined;
  /** The text of the button. */
  readonly submit: string;
  readonly isDangerous?: boolean | undefined;
  /** It shows something, and there is nothing to decide. */
  readonly isNotice?: boolean;
  /** Its error is shown, and the dialog stays open. */
  act?(values: Values): Promise<unknown>;
}

const question = signal<(Question & { readonly id: number }) | undefined>(undefined);
let lastId = 0;

/** Asks in a modal dialog, which keeps the focus until it closes. */
export function ask(asked: Question): void {
  lastId += 1;
  question.value = { ...asked, id: lastId };
}

export function Dialog() {
  const current = question.value;
  return current ? <OpenDialog key={current.id} question={current} /> : null;
}

function OpenDialog({
  question: { title, content, fields = [], submit, isDangerous, isNotice, act },
}: {
  question: Question;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const opener = useRef(document.activeElement);
  const [problem, setProblem] = useState('');
  const [isActing, setActing] = useState(false);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const onClose = () => {
    question.value = undefined;
    // The browser does it too, unless an update has replaced the button.
    if (opener.current instanceof HTMLElement && opener.current.isConnected) opener.current.focus();
  };
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    setProblem('');
    setActing(true);
    try {
      await act?.(valuesOf(event.currentTarget as HTMLFormElement));
      dialog.current?.close();
    } catch (error) {
      setProblem(messageOf(error));
      setActing(false);
    }
  };
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      <form onSubmit={(event) => void onSubmit(event)}>
        {content}
        {fields.map((field) => (
          <FieldControl key={field.name} field={field} />
        ))}
        <p class="problem" role="alert">
          {problem}
        </p>
        <div class="buttons end">
          {!isNotice && (
            <button type="button" onClick={() => dialog.current?.close()}>
              Keep as it is
            </button>
          )}
          <button type="submit" class={isDangerous ? 'danger solid' : 'primary'} disabled={isActing}>
            {submit}
          </button>
        </div>
      </form>
    </dialog>
  );
}
