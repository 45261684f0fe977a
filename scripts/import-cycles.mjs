// npm run cycles: fails with the path of every import cycle between files of lib, and between folders of lib/store.
//
// Every import counts: also that of a type, in code or in a comment, and a dynamic one. A reader of a file needs all of
// them. Of two folders that name each other, neither can be read, or removed, without the other.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const STORE = join('lib', 'store', '/');
const STATIC = /^(?:import|export)\b(?:[^;'"]*?\bfrom)?\s*['"](\.[^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"](\.[^'"]+)['"]\s*\)/g;

const root = resolve(import.meta.dirname, '..');
const files = readdirSync(join(root, 'lib'), { recursive: true })
  .filter((file) => /\.(?:ts|js)$/.test(file))
  .map((file) => join('lib', file));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

const cycles = findCycles(imports);
for (const cycle of cycles) console.log(`import cycle: ${[...cycle, cycle[0]].join(' → ')}`);
console.log(`${files.length} files, ${cycles.length} import cycles`);

const folders = importsOfFolders();
const folderCycles = findCycles(new Map([...folders].map(([folder, targets]) => [folder, [...targets.keys()]])));
for (const cycle of folderCycles) {
  console.log(`import cycle of folders, which can then be read only together: ${[...cycle, cycle[0]].join(' → ')}`);
  cycle.forEach((folder, index) => console.log(`  ${folders.get(folder).get(cycle[(index + 1) % cycle.length])}`));
}
console.log(`${folders.size} folders of the store, ${folderCycles.length} import cycles`);
process.exitCode = cycles.length + folderCycles.length > 0 ? 1 : 0;

/** The files that a file imports or re-exports. A specifier ends in `.js`, also that of a TypeScript file. */
function importsOf(file) {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(STATIC), ...text.matchAll(DYNAMIC)]
    .map(([, specifier]) => join(dirname(file), specifier))
    .map((path) => (files.includes(path) ? path : path.replace(/\.js$/, '.ts')));
}

/** The folders that each folder of the store imports, with the first import as an example. */
function importsOfFolders() {
  const found = new Map();
  for (const file of files.filter((each) => each.startsWith(STORE))) {
    const folder = dirname(file);
    if (!found.has(folder)) found.set(folder, new Map());
    for (const target of imports.get(file)) {
      const to = dirname(target);
      if (target.startsWith(STORE) && to !== folder && !found.get(folder).has(to))
        found.get(folder).set(to, `${file} → ${target}`);
    }
  }
  return found;
}

/** The shortest cycle through each import, each cycle once and from its first member in alphabetical order. */
function findCycles(graph) {
  const found = new Map();
  for (const [file, targets] of graph) {
    for (const target of targets) {
      const path = shortestPath(graph, target, file);
      if (!path) continue;
      const start = path.indexOf([...path].sort((a, b) => a.localeCompare(b))[0]);
      const cycle = [...path.slice(start), ...path.slice(0, start)];
      found.set(cycle.join(), cycle);
    }
  }
  return [...found.values()];
}

/** The members of the graph from `from` to `to` along imports, or undefined if there is no path. */
function shortestPath(graph, from, to) {
  const previous = new Map([[from, undefined]]);
  for (const file of previous.keys()) {
    if (file === to) {
      const path = [];
      for (let each = to; each !== undefined; each = previous.get(each)) path.unshift(each);
      return path;
    }
    for (const target of graph.get(file) ?? []) if (!previous.has(target)) previous.set(target, file);
  }
  return undefined;
}
