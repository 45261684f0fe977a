import { useState } from 'preact/hooks';
import type { Shown } from '../answers.js';
import { number } from '../format.js';
import { Copy } from './copy.js';
import { Icon } from './icons.js';
import { Segments } from './layout.js';

// The server shows it in place of a secret.
const MASK = '••••';
const OPEN_LEVELS = 2;
const MAX_OPEN = 20;
const INDENT_PX = 16;
const VIEWS = [
  ['tree', 'Tree'],
  ['raw', 'Raw'],
] as const;

type View = (typeof VIEWS)[number][0];

/** A JSON value as a tree that folds, or as text. */
export function JsonValue({ shown, name }: { shown: Shown; name: string }) {
  const [view, setView] = useState<View>('tree');
  const parsed = parse(shown);
  return (
    <div class="tree-box">
      <div class="tree-tools">
        {shown.isRedacted && (
          <span class="note">
            <Icon name="lock" size={13} />
            secrets are hidden
          </span>
        )}
        {shown.isCut && <span class="note">the first 16 kB of {number(shown.bytes)} bytes</span>}
        {parsed && (
          <Segments label={`View of the ${name}`} value={view} options={VIEWS} onChange={(one: View) => setView(one)} />
        )}
        <Copy text={shown.text} label={`Copy the ${name}`} />
      </div>
      {parsed && view === 'tree' ? (
        <div class="tree" role="group" aria-label={name}>
          <Node value={parsed.value} depth={0} />
        </div>
      ) : (
        // With the focus, the keyboard scrolls a long text.
        <pre class="raw" tabIndex={0} role="region" aria-label={name}>
          {shown.text}
        </pre>
      )}
    </div>
  );
}

function parse({ text, isCut }: Shown): { value: unknown } | undefined {
  if (isCut) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function Node({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const isFolder = typeof value === 'object' && value !== null;
  const entries = isFolder ? Object.entries(value) : [];
  const [isOpen, setOpen] = useState(depth < OPEN_LEVELS && entries.length <= MAX_OPEN);
  const style = { paddingLeft: `${depth * INDENT_PX + (isFolder ? 0 : 20)}px` };
  if (!isFolder)
    return (
      <div class="leaf" style={style}>
        {name !== undefined && <span class="k">{name}: </span>}
        <Leaf value={value} />
      </div>
    );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0)
    return (
      <div class="leaf" style={{ paddingLeft: `${depth * INDENT_PX + 20}px` }}>
        {name !== undefined && <span class="k">{name}: </span>}
        {open + close}
      </div>
    );
  const unit = Array.isArray(value) ? 'items' : 'keys';
  return (
    <>
      <button type="button" class="fold" style={style} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? 'down' : 'chevron'} size={11} />
        {name !== undefined && <span class="k">{name}: </span>}
        <span class="soft">{isOpen ? open : `${open} ${entries.length} ${unit} ${close}`}</span>
      </button>
      {isOpen && entries.map(([key, item]) => <Node key={key} name={key} value={item} depth={depth + 1} />)}
    </>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (value === MASK)
    return (
      <span class="v masked">
        <Icon name="lock" size={12} />
        hidden
      </span>
    );
  if (typeof value === 'string') return <span class="v str">{JSON.stringify(value)}</span>;
  const kind = value === null ? 'nil' : typeof value === 'number' ? 'num' : 'bool';
  return <span class={`v ${kind}`}>{String(value)}</span>;
}

/** Nothing of the value is hidden or cut, so that it can be edited. */
export function isWhole(shown: Shown | null): shown is Shown {
  return shown !== null && !shown.isCut && !shown.isRedacted;
}
