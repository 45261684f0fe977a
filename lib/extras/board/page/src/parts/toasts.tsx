import { signal } from '@preact/signals';
import { messageOf } from '../api.js';
import { Icon } from './icons.js';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isFailure: boolean;
  readonly undo?: (() => void) | undefined;
}

const SHOWN_MS = 10_000;
const MAX_SHOWN = 3;

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Says the result of an action, also to screen readers. */
export function announce(text: string, undo?: () => void): void {
  const id = show({ text, isFailure: false, undo });
  setTimeout(() => close(id), SHOWN_MS);
}

/** A failure stays until the viewer closes it. */
export function announceError(error: unknown): void {
  show({ text: messageOf(error), isFailure: true });
}

function show(toast: Omit<Toast, 'id'>): number {
  lastId += 1;
  toasts.value = [...toasts.value.slice(1 - MAX_SHOWN), { ...toast, id: lastId }];
  return lastId;
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return (
    <div id="result" class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isFailure, undo }) => (
        <div key={id} class={`toast ${isFailure ? 't-failure' : ''}`}>
          <Icon name={isFailure ? 'broken' : 'ok'} />
          <span>{text}</span>
          {undo && (
            <button
              type="button"
              class="link"
              onClick={() => {
                close(id);
                undo();
              }}
            >
              Undo
            </button>
          )}
          <button type="button" class="icon-button" aria-label="Close the message" onClick={() => close(id)}>
            <Icon name="close" size={13} />
          </button>
        </div>
      ))}
    </div>
  );
}
