import type { AuditEntry } from '../../answers.js';
import { number } from '../../format.js';
import { href } from '../../live/route.js';
import { JobLink } from '../../parts/links.js';
import { selectionText } from './selection-text.js';

const MAX_LINKS = 5;

/** The things that a change was about, in words. */
export function Selection({ entry }: { entry: AuditEntry }) {
  const { verb, which } = entry;
  if (typeof which === 'number') {
    if (verb !== 'cancelFlow' && verb !== 'retryFlow') return <JobLink id={which} />;
    return <a href={href('flow', { id: which })}>flow {which}</a>;
  }
  if (typeof which === 'string') return <>{selectionText(entry)}</>;
  if (isIds(which)) {
    return (
      <>
        <span class="job-links">
          {which.slice(0, MAX_LINKS).map((id) => (
            <JobLink key={id} id={id} />
          ))}
          {which.length > MAX_LINKS && <span>and {number(which.length - MAX_LINKS)} more jobs</span>}
        </span>
        {which.length > MAX_LINKS && <Raw value={which} />}
      </>
    );
  }
  const text = selectionText(entry);
  if (text === undefined) return <code>{JSON.stringify(which)}</code>;
  return (
    <>
      {text}
      {which !== null && <Raw value={which} />}
    </>
  );
}

const isIds = (which: unknown): which is number[] =>
  Array.isArray(which) && which.every((id) => typeof id === 'number');

function Raw({ value }: { value: unknown }) {
  return (
    <details class="selection-json">
      <summary>JSON</summary>
      <code>{JSON.stringify(value)}</code>
    </details>
  );
}
