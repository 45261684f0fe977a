import { go, href, type Params } from '../live/route.js';
import { valuesOf } from './field.js';

interface Props {
  readonly label: string;
  readonly page: string;
  /** The names of the parameters with their labels. */
  readonly fields: readonly (readonly [name: string, label: string])[];
  readonly params: Params;
}

/** Fields whose values become the parameters of the page. What a person types stays when the page updates. */
export function ParamForm({ label, page, fields, params }: Props) {
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    go(page, valuesOf(event.currentTarget as HTMLFormElement));
  };
  const given = fields.map(([name]) => String(params[name] ?? ''));
  return (
    // Another key for other parameters: then the fields begin with those.
    <form key={given.join('\n')} class="param-form" role="search" aria-label={label} onSubmit={onSubmit}>
      {fields.map(([name, text], index) => (
        <label key={name}>
          {text}
          <input
            name={name}
            defaultValue={given[index] ?? ''}
            autocomplete="off"
            {...(index === 0 && { 'data-search': true })}
          />
        </label>
      ))}
      <button type="submit" class="primary">
        Show
      </button>
      {given.some(Boolean) && (
        <a class="link" href={href(page)}>
          Clear
        </a>
      )}
    </form>
  );
}
