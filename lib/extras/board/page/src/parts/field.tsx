import type { InputHTMLAttributes } from 'preact';

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
  readonly hint?: string | undefined;
  readonly type?: 'text' | 'number' | 'datetime-local' | 'textarea';
  readonly required?: boolean;
}

/** The trimmed texts of a form by the names of its fields. */
export type Values = Readonly<Record<string, string>>;

export function valuesOf(form: HTMLFormElement): Values {
  const values: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') values[name] = value.trim();
  return values;
}

/** A field with its label. Its own value stays when the page updates. */
export function FieldControl({ field: { name, label, value = '', hint, type = 'text', required } }: { field: Field }) {
  const id = `field-${name}`;
  const hintId = hint && `${id}-hint`;
  const shared = { id, name, required, autocomplete: 'off', 'aria-describedby': hintId };
  const attributes = { ...shared, type, defaultValue: value } as InputHTMLAttributes;
  return (
    <p class="field">
      <label for={id}>{label}</label>
      {type === 'textarea' ? (
        <textarea {...shared} rows={12} spellcheck={false} defaultValue={value} />
      ) : (
        <input {...attributes} />
      )}
      {hint && <small id={hintId}>{hint}</small>}
    </p>
  );
}
