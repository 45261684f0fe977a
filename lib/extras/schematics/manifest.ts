import { textOf, write, type Tree } from './tree.js';

const PATH = '/package.json';

/** The package.json of a project. */
interface Manifest {
  readonly type?: string;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly overrides?: Record<string, unknown>;
}

/** The versions of all packages that the project names. */
export function packagesOf(tree: Tree): Record<string, string> {
  const { dependencies, devDependencies } = manifestOf(tree);
  return { ...devDependencies, ...dependencies };
}

/** The extension that a relative import needs. */
export function importExtension(tree: Tree): '' | '.js' {
  return manifestOf(tree).type === 'module' ? '.js' : '';
}

export function addDependencies(tree: Tree, added: Record<string, string>, overrides?: Record<string, unknown>): void {
  const manifest = manifestOf(tree);
  const names = Object.entries({ ...manifest.dependencies, ...added }).sort(([a], [b]) => (a < b ? -1 : 1));
  const changed: Manifest = {
    ...manifest,
    dependencies: Object.fromEntries(names),
    ...(overrides && { overrides: { ...overrides, ...manifest.overrides } }),
  };
  write(tree, PATH, `${JSON.stringify(changed, null, 2)}\n`);
}

function manifestOf(tree: Tree): Manifest {
  const text = textOf(tree, PATH);
  return text === '' ? {} : (JSON.parse(text) as Manifest);
}
