import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { FieldControl, valuesOf, type Field, type Values } from './field.js';
import { NO_PROBLEMS, problemsOf } from './field-problems.js';

export interface Question {
  readonly title: string;
  /** Before the fields. */
  readonly content?: ComponentChildren;
  readonly fields?: readonly Field[] | undefined;
  /** After the fields, for their present values. */
  readonly result?: ((values: Values) => ComponentChildren) | undefined;
  /** The text of the button. */
  readonly submit: string;
  readonly isDangerous?: boolean | undefined;
  /** It shows something, and there is nothing to decide. */
  readonly isNotice?: boolean;
  /** Its error is shown, and the dialog stays open. */
  act?(values: Values): Promise<unknown>;
}

const NONE: readonly Field[] = [];
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

function OpenDialog({ question: own }: { question: Question }) {
  const { title, content, fields = NONE, result, submit, isDangerous, isNotice, act } = own;
  const dialog = useRef<HTMLDialogElement>(null);
  const opener = useRef(document.activeElement);
  const [problems, setProblems] = useState(NO_PROBLEMS);
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(({ name, value = '' }) => [name, value])),
  );
  const [isActing, setActing] = useState(false);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  // A notice may have links to other pages.
  useEffect(() => {
    if (!isNotice) return undefined;
    const close = () => dialog.current?.close();
    addEventListener('hashchange', close);
    return () => removeEventListener('hashchange', close);
  }, []);
  // The first field that has to change.
  useLayoutEffect(() => dialog.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus(), [problems]);
  const onClose = () => {
    // The next dialog may be open when the browser reports the end of this one.
    if (question.value === own) question.value = undefined;
    // The browser does it too, unless an update has replaced the button.
    if (!question.value && opener.current instanceof HTMLElement && opener.current.isConnected) opener.current.focus();
  };
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    setProblems(NO_PROBLEMS);
    setActing(true);
    try {
      await act?.(valuesOf(event.currentTarget as HTMLFormElement));
      dialog.current?.close();
    } catch (error) {
      setProblems(problemsOf(error, fields));
      setActing(false);
    }
  };
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      <form
        onSubmit={(event) => void onSubmit(event)}
        onInput={(event) => result && setValues(valuesOf(event.currentTarget))}
      >
        {content}
        <div class="fields">
          {fields.map((field) => (
            <FieldControl key={field.name} field={field} problem={problems.byField.get(field.name)} />
          ))}
        </div>
        {result?.(values)}
        <p class="problem" role="alert">
          {problems.rest}
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
