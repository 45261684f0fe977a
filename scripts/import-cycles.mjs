// npm run cycles [-- --types]: fails with the path of every import cycle between files of lib.
//
// Erased imports (`import type`, or only `type` names) are ignored, because they cannot fail at run time. With --types
// they count as well, and the cycles are only listed. Dynamic imports never count: they run after the module has
// loaded.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const IMPORT = /^(?:import|export)\b(?:([^;'"]*?)\bfrom)?\s*['"](\.[^'"]+)['"]/gm;

const { values } = parseArgs({ options: { types: { type: 'boolean', default: false } } });
const root = resolve(import.meta.dirname, '..');
const files = readdirSync(join(root, 'lib'), { recursive: true })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => join('lib', file));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

const cycles = findCycles();
for (const cycle of cycles) console.log(`import cycle: ${[...cycle, cycle[0]].join(' → ')}`);
console.log(`${files.length} files, ${cycles.length} import cycles${values.types ? ', with imports of types' : ''}`);
process.exitCode = cycles.length > 0 && !values.types ? 1 : 0;

/** The files that a file imports or re-exports. */
function importsOf(file) {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(IMPORT)]
    .filter(([, names = '']) => values.types || !isErased(names))
    .map(([, , specifier]) => join(dirname(file), specifier).replace(/\.js$/, '.ts'));
}

/** Whether an import has only types: `type { A }`, `type A` or `{ type A, type B }`. */
function isErased(names) {
  if (/^\s*type\s/.test(names)) return true;
  const members = /^\s*\{([^}]*)\}\s*$/
    .exec(names)?.[1]
    .split(',')
    .filter((member) => member.trim());
  return members !== undefined && members.length > 0 && members.every((member) => /^\s*type\s/.test(member));
}

/** The shortest cycle through each import, each cycle once and from its first file in alphabetical order. */
function findCycles() {
  const found = new Map();
  for (const [file, targets] of imports) {
    for (const target of targets) {
      const path = shortestPath(target, file);
      if (!path) continue;
      const start = path.indexOf([...path].sort((a, b) => a.localeCompare(b))[0]);
      const cycle = [...path.slice(start), ...path.slice(0, start)];
      found.set(cycle.join(), cycle);
    }
  }
  return [...found.values()];
}

/** The files from `from` to `to` along imports, or undefined if there is no path. */
function shortestPath(from, to) {
  const previous = new Map([[from, undefined]]);
  for (const file of previous.keys()) {
    if (file === to) {
      const path = [];
      for (let each = to; each !== undefined; each = previous.get(each)) path.unshift(each);
      return path;
    }
    for (const target of imports.get(file) ?? []) if (!previous.has(target)) previous.set(target, file);
  }
  return undefined;
}
