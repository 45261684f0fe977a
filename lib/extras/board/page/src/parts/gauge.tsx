import type { ComponentChildren } from 'preact';
import { number } from '../format.js';

interface Props {
  readonly value: number;
  /** Null: no limit. */
  readonly max: number | null;
  readonly label: string;
  /** Jobs wait for room. Full slots are good work, unless others wait for them. */
  readonly isPressed?: boolean;
  /** In place of the number, such as a link to its jobs. */
  readonly children?: ComponentChildren;
  /** After the limit. */
  readonly note?: string;
  /** In place of the number and its limit. */
  readonly text?: ComponentChildren;
}

const MAX_SLOTS = 16;

/** A number against its limit: slots as squares while they are few. */
export function Gauge({ value, max, label, isPressed = false, children, note = '', text }: Props) {
  const isFull = isPressed && max !== null && value >= max;
  return (
    <div class={`gauge ${isFull ? 't-full' : ''}`}>
      {max !== null && (
        <span
          class="gauge-bar"
          role="meter"
          aria-label={label}
          aria-valuenow={Math.min(value, max)}
          aria-valuemin={0}
          aria-valuemax={max}
        >
          {max <= MAX_SLOTS ? <Slots value={value} max={max} /> : <Bar share={value / max} />}
        </span>
      )}
      <span class="gauge-text">
        {text ?? (
          <>
            {children ?? number(value)}
            {max !== null && <span class="soft">{` / ${number(max)}${note}`}</span>}
          </>
        )}
      </span>
    </div>
  );
}

function Slots({ value, max }: { value: number; max: number }) {
  return (
    <span class="slots">
      {Array.from({ length: max }, (_, index) => (
        <i key={index} class={index < value ? 'on' : ''} />
      ))}
    </span>
  );
}

function Bar({ share }: { share: number }) {
  const width = Math.min(1, share) * 100;
  return (
    <span class="track">
      <i style={{ width: `${Math.max(width, share > 0 ? 2 : 0)}%` }} />
    </span>
  );
}
