import { Fragment, type ComponentChildren } from 'preact';
import { isForbidden, type ReadFailure } from '../api.js';
import type { Reading } from '../live/use-read.js';
import { Icon, type IconName } from './icons.js';

interface CardProps {
  readonly title?: ComponentChildren;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
  /** Without room around the content, as for tables. */
  readonly isFlush?: boolean;
}

export function Card({ title, aside, children, class: name = '', isFlush = false }: CardProps) {
  return (
    <section class={`card ${name}`}>
      {title !== undefined && (
        <header class="card-head">
          <h2>{title}</h2>
          {aside && <div class="aside">{aside}</div>}
        </header>
      )}
      <div class={isFlush ? 'flush' : 'card-body'}>{children}</div>
    </section>
  );
}

interface HeadProps {
  readonly title: ComponentChildren;
  readonly crumbs?: readonly (readonly [text: string, to?: string])[];
  /** Beside the title. */
  readonly children?: ComponentChildren;
  readonly buttons?: ComponentChildren;
}

/** The title of a page with the way to it and its actions. A new page puts the focus on its title. */
export function PageHead({ title, crumbs, children, buttons }: HeadProps) {
  return (
    <>
      {crumbs && (
        <nav class="crumbs" aria-label="Breadcrumb">
          {crumbs.map(([text, to], index) => (
            <span key={text}>
              {index > 0 && <Icon name="chevron" size={11} />}
              {to ? <a href={to}>{text}</a> : <span aria-current="page">{text}</span>}
            </span>
          ))}
        </nav>
      )}
      <header class="page-head">
        <h1 tabIndex={-1}>{title}</h1>
        {children}
        {buttons && <div class="buttons aside">{buttons}</div>}
      </header>
    </>
  );
}

/** Names and values. Those without a value are left out. */
export function Facts({ entries }: { entries: readonly (readonly [string, ComponentChildren])[] }) {
  const given = entries.filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false);
  return (
    <dl class="facts">
      {given.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface SegmentsProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  onChange(value: Value): void;
}

/** One of a few views. */
export function Segments<Value extends string>({ label, value, options, onChange }: SegmentsProps<Value>) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map(([key, text]) => (
        <button key={key} type="button" aria-pressed={key === value} onClick={() => onChange(key)}>
          {text}
        </button>
      ))}
    </div>
  );
}

export function Empty({
  icon = 'ok',
  title,
  children,
}: {
  icon?: IconName;
  title: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <Icon name={icon} size={28} />
      <strong>{title}</strong>
      {children && <div>{children}</div>}
    </div>
  );
}

/** Grey bars of about the final size. */
export function Skeleton({ rows = 5 }: { rows?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <i key={index} />
      ))}
    </div>
  );
}

/** Why there is no answer, or no newer one. Another read changes nothing about a right that is missing. */
export function Failure({ error, reload, part }: { error: ReadFailure; reload: () => void; part?: string }) {
  const text = part === undefined ? error.text : `The ${part} could not be read: ${error.text}`;
  if (isForbidden(error))
    return (
      <Empty icon="lock" title="You have no right to see this">
        {text}
      </Empty>
    );
  return (
    <div class="failure" role="alert">
      <Icon name="broken" />
      <span>{text}</span>
      <button type="button" class="link" onClick={reload}>
        Try again
      </button>
    </div>
  );
}

interface ReadingProps<Answer> {
  readonly of: Pick<Reading<Answer>, 'data' | 'error' | 'reload'>;
  readonly rows?: number;
  readonly children: (data: Answer) => ComponentChildren;
}

/** The answer, bars before it, the right that is missing, or the problem beside the last answer if a later one fails. */
export function Loaded<Answer>({ of, rows, children }: ReadingProps<Answer>) {
  return (
    <Fragment>
      {of.error !== undefined && <Failure error={of.error} reload={() => of.reload()} />}
      {of.data === undefined ? of.error === undefined && <Skeleton rows={rows ?? 5} /> : children(of.data)}
    </Fragment>
  );
}
