import type { InputHTMLAttributes } from 'preact';

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
  readonly hint?: string | undefined;
  readonly type?: 'text' | 'number' | 'datetime-local' | 'textarea' | 'select';
  /** Of a select: the values with their texts. */
  readonly options?: readonly (readonly [value: string, text: string])[];
  /** Known values. The field takes others, too. */
  readonly suggestions?: readonly string[];
  /** Of a textarea. */
  readonly rows?: number;
  /** It shares its row with another field, if there is room. */
  readonly isHalf?: boolean;
  readonly required?: boolean;
}

/** The trimmed texts of a form by the names of its fields. */
export type Values = Readonly<Record<string, string>>;

export function valuesOf(form: HTMLFormElement): Values {
  const values: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') values[name] = value.trim();
  return values;
}

/** The fields with a text. */
export function given(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, text]) => text !== ''));
}

/** A field with its label and its problem. Its own value stays when the page updates. */
export function FieldControl({ field, problem }: { field: Field; problem?: string | undefined }) {
  const { name, label, hint, isHalf } = field;
  const id = `field-${name}`;
  return (
    <p class={isHalf ? 'field half' : 'field'}>
      <label for={id}>{label}</label>
      <Control field={field} id={id} hasProblem={problem !== undefined} />
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      {problem !== undefined && (
        <small id={`${id}-problem`} class="problem" role="alert">
          {problem}
        </small>
      )}
    </p>
  );
}

function Control({ field, id, hasProblem }: { field: Field; id: string; hasProblem: boolean }) {
  const { name, value = '', hint, type = 'text', required, options, suggestions, rows = 12 } = field;
  const described = [hint && `${id}-hint`, hasProblem && `${id}-problem`].filter(Boolean).join(' ');
  const shared = {
    ...{ id, name, required, autocomplete: 'off', 'aria-invalid': hasProblem || undefined },
    'aria-describedby': described || undefined,
  } as const;
  if (type === 'textarea') return <textarea {...shared} rows={rows} spellcheck={false} defaultValue={value} />;
  if (type === 'select')
    return (
      <select {...shared}>
        {options?.map(([one, text]) => (
          <option key={one} value={one} selected={one === value}>
            {text}
          </option>
        ))}
      </select>
    );
  const list = suggestions && `${id}-known`;
  const attributes = { ...shared, type, defaultValue: value, list } as InputHTMLAttributes;
  return (
    <>
      <input {...attributes} />
      {suggestions && (
        <datalist id={list}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  );
}
