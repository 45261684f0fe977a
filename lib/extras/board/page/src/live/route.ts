import { signal } from '@preact/signals';

/** The page that is open, with its parameters. All of it is in the hash, so that each view is a link. */
export interface Route {
  readonly page: string;
  readonly params: Readonly<Record<string, string>>;
}

export type Params = Readonly<Record<string, string | number | null | undefined>>;

// The names of pages of earlier versions.
const RENAMED: Readonly<Record<string, string>> = { queues: 'overview', dead: 'errors', subscriptions: 'topics' };

export const route = signal<Route>(parse());

addEventListener('hashchange', () => (route.value = parse()));

function parse(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const page = path || 'overview';
  return {
    page: Object.hasOwn(RENAMED, page) ? RENAMED[page]! : page,
    params: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** Parameters without a value are left out. */
export function href(page: string, params: Params = {}): string {
  const given = Object.entries(params).filter(([, value]) => value !== '' && value !== null && value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${page}${query && `?${query}`}`;
}

export function go(page: string, params: Params = {}): void {
  location.hash = href(page, params);
}

/** Changes parameters of the open page without a new entry in the history of the browser. */
export function replaceParams(changes: Params): void {
  const { page, params } = route.peek();
  history.replaceState(history.state, '', href(page, { ...params, ...changes }));
  route.value = parse();
}
