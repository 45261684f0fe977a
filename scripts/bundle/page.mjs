// Bundles the page of the board: `node scripts/bundle/page.mjs` for the tests and the demonstrations from source.
import { transform } from '@swc/core';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rollup } from 'rollup';
import { minifyPage } from './minify-page.mjs';

const require = createRequire(import.meta.url);
const root = resolve(import.meta.dirname, '../..');
const SOURCE = join(root, 'lib/extras/board/page/src');
const PACKAGES = ['preact', '@preact/signals', '@preact/signals-core', 'uplot', '@dagrejs/dagre', 'cronstrue'];

// A page that is larger takes noticeably longer on a phone.
const MAX_GZIP_BYTES = 120_000;

/** Returns the files of the page by name: a script, a style sheet, the document, and the licences of its libraries. */
export async function bundlePage() {
  const files = {
    'board.js': await bundleScript(),
    'board.css': await joinStyles(),
    'board.html': await readFile(join(SOURCE, 'board.html'), 'utf8'),
  };
  const bytes = Object.values(files).reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
  if (bytes > MAX_GZIP_BYTES)
    throw new Error(`expected the page of the board to have at most ${MAX_GZIP_BYTES} bytes with gzip, got ${bytes}`);
  return { ...files, 'LICENSES.txt': await licenses() };
}

/** Writes the page beside its source, if the source has changed since. The tests serve it from there. */
export async function providePage(folder = dirname(SOURCE)) {
  const stamp = join(folder, 'board.stamp');
  const digest = await digestOfSource();
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === digest) return;
  const files = { ...(await bundlePage()), 'board.stamp': digest };
  await mkdir(folder, { recursive: true });
  // Another process may serve the last ones at the same time.
  for (const [name, text] of Object.entries(files)) {
    const growing = join(folder, `${name}.${process.pid}`);
    await writeFile(growing, text);
    await rename(growing, join(folder, name));
  }
}

async function bundleScript() {
  const modules = await rollup({ input: join(SOURCE, 'main.tsx'), plugins: [ownModules, packages] });
  const { output } = await modules.generate({ format: 'es' });
  await modules.close();
  return minifyPage(output[0].code);
}

/** The compiler has checked the types; here they are removed. */
const ownModules = {
  name: 'own-modules',
  resolveId(id, importer) {
    if (!importer || !id.startsWith('.')) return null;
    const path = resolve(dirname(importer), id);
    return ['.tsx', '.ts'].map((end) => path.replace(/\.js$/, end)).find((file) => existsSync(file)) ?? null;
  },
  async transform(code, id) {
    if (!/\.tsx?$/.test(id)) return null;
    const react = { runtime: 'automatic', importSource: 'preact' };
    const parser = { syntax: 'typescript', tsx: id.endsWith('x') };
    return transform(code, {
      ...{ filename: id, configFile: false, swcrc: false },
      jsc: { parser, target: 'es2022', transform: { react, verbatimModuleSyntax: true } },
    });
  },
};

const packages = {
  name: 'packages',
  async resolveId(id) {
    if (!/^[@a-z]/.test(id)) return null;
    const name = PACKAGES.find((one) => id === one || id.startsWith(`${one}/`));
    if (!name) throw new Error(`expected the page to import only ${PACKAGES.join(', ')}, got ${id}`);
    const folder = folderOf(name);
    const { exports, module, main } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const entry = exports?.[`.${id.slice(name.length)}`];
    return join(folder, entry ? (entry.browser ?? entry.import ?? entry.default) : (module ?? main));
  },
  /** It has no ES module. */
  async load(path) {
    if (!path.startsWith(folderOf('cronstrue'))) return null;
    const code = await readFile(path, 'utf8');
    return `const module = { exports: {} }, { exports } = module;\n${code}\nexport const { toString } = module.exports;`;
  },
};

/** The style sheets in the order of their names, after that of the charts, without comments. */
async function joinStyles() {
  const names = (await readdir(join(SOURCE, 'styles'))).sort();
  const paths = [join(folderOf('uplot'), 'dist/uPlot.min.css'), ...names.map((name) => join(SOURCE, 'styles', name))];
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
  return texts
    .join('\n')
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/\s*\n\s*/g, '\n')
    .replace(/([{;,])\n/g, '$1')
    .trim();
}

async function licenses() {
  const texts = PACKAGES.map(async (name) => {
    const folder = folderOf(name);
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    return `${name} ${version}\n\n${(await readFile(join(folder, 'LICENSE'), 'utf8')).trim()}\n`;
  });
  return `The page of the board contains these libraries.\n\n${(await Promise.all(texts)).join('\n---\n\n')}`;
}

function folderOf(name) {
  const modules = require.resolve.paths(name).find((folder) => existsSync(join(folder, name, 'package.json')));
  return join(modules, name);
}

async function digestOfSource() {
  const names = (await readdir(SOURCE, { recursive: true })).filter((name) => /\.\w+$/.test(name)).sort();
  const own = ['page.mjs', 'minify-page.mjs'].map((name) => join(import.meta.dirname, name));
  const digest = createHash('sha256');
  for (const path of [...own, ...names.map((name) => join(SOURCE, name)), join(root, 'package-lock.json')])
    digest.update(path).update(await readFile(path));
  return digest.digest('hex');
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await providePage();
