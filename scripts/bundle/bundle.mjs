// Joins the modules that the compiler has written.
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { COMMAND_LINE, ENTRY_POINTS, PARTS, SCHEMATICS, THREADS } from './entry-points.mjs';
import { thinSourceMap } from './source-map.mjs';

const ESM = { format: 'es', minifyInternalExports: false, hoistTransitiveImports: false, ...namesWith('js') };
const COMMON_JS = {
  ...ESM,
  ...namesWith('cjs'),
  format: 'cjs',
  exports: 'named',
  esModule: true,
  interop: 'auto',
  // Jest in its default mode has no import().
  dynamicImportInCjs: false,
};

const EXPECTED_WARNINGS = new Set([
  // The compiler's helpers for decorators begin with `this && this.__decorate`.
  'THIS_IS_UNDEFINED',
  // Types of members that need no public name.
  'PLUGIN_WARNING',
]);

/**
 * Returns the programs of the package and their source maps by name.
 *
 * @param compiled the folder of ES modules, each with a source map that leads into `lib`
 */
export async function bundleCode(compiled, lib) {
  const at = (source) => join(compiled, source.replace(/\.ts$/, '.js'));
  const plugins = [compiledModules(compiled), ownUrlInCommonJs];
  const maps = {
    sourcemap: true,
    sourcemapExcludeSources: true,
    sourcemapPathTransform: (path, map) => `../lib/${relative(lib, resolve(dirname(map), path)).replaceAll(sep, '/')}`,
  };
  return Object.assign(
    await bundle({ ...ENTRY_POINTS, ...COMMAND_LINE }, { at, plugins, parts: PARTS, outputs: [{ ...ESM, ...maps }] }),
    await bundle(ENTRY_POINTS, { at, plugins, parts: { queue: PARTS.queue }, outputs: [{ ...COMMON_JS, ...maps }] }),
    await bundle(THREADS, { at, plugins, outputs: [{ ...ESM, ...maps }] }),
    await bundle(SCHEMATICS, { at, plugins, outputs: [{ ...COMMON_JS, ...maps }] }),
  );
}

/** Returns the declarations of the entry points by name, for ES modules and for CommonJS. */
export function bundleTypes(compiled) {
  const at = (source) => join(compiled, source.replace(/\.ts$/, '.d.ts'));
  const outputs = ['d.ts', 'd.cts'].map((extension) => ({ ...ESM, ...namesWith(extension) }));
  return bundle(ENTRY_POINTS, { at, plugins: [dts()], parts: { types: ENTRY_POINTS.index }, outputs });
}

/**
 * @param at the module of a file of lib
 * @param parts names of chunks, each with the file whose imports belong to it
 */
async function bundle(entries, { at, plugins = [], parts = {}, outputs }) {
  const modules = await rollup({
    input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, at(file)])),
    external: (id) => !/^[./]/.test(id),
    plugins,
    onwarn: (warning, warn) => EXPECTED_WARNINGS.has(warning.code) || warn(warning),
  });
  let partOf;
  const manualChunks = (id, { getModuleInfo }) => {
    const importsOf = (id) => getModuleInfo(id).importedIds.filter((imported) => !getModuleInfo(imported).isExternal);
    partOf ??= partsOf(
      Object.entries(parts).map(([name, file]) => [name, at(file)]),
      importsOf,
    );
    return partOf.get(id);
  };
  const generated = [];
  for (const options of outputs) generated.push(await modules.generate({ ...options, dir: '.', manualChunks }));
  await modules.close();
  const files = generated.flatMap(({ output }) => output);
  const codes = new Map(files.map(({ fileName, code }) => [fileName, code]));
  const textOf = ({ fileName, code, source }) => {
    if (fileName.endsWith('.map')) return thinSourceMap(source, codes.get(fileName.slice(0, -'.map'.length)));
    return /\.d\.c?ts$/.test(fileName) ? withTabs(code) : code;
  };
  return Object.fromEntries(files.map((file) => [file.fileName, textOf(file)]));
}

/** The compiler indents by four spaces, which are a twentieth of the declarations. */
function withTabs(code) {
  return code.replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4));
}

/** Maps each module that the last file imports to the first part that imports it. */
function partsOf(parts, importsOf) {
  const reached = parts.map(([, file]) => withImports(file, importsOf));
  const partOf = (id) => parts[reached.findIndex((ids) => ids.has(id))][0];
  return new Map([...(reached.at(-1) ?? [])].map((id) => [id, partOf(id)]));
}

/** The file and all that it imports, directly or not. */
function withImports(file, importsOf) {
  const ids = new Set([file]);
  for (const id of ids) for (const imported of importsOf(id)) ids.add(imported);
  return ids;
}

/** Reads the source map of each module, and begins its code with the name of its source, for readers of a stack trace. */
function compiledModules(folder) {
  return {
    name: 'compiled-modules',
    async load(id) {
      const [code, map] = await Promise.all([readFile(id, 'utf8'), readFile(`${id}.map`, 'utf8')]);
      return { code: code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'), map };
    },
    transform(code, id) {
      const first = this.parse(code).body.find(({ source }) => !source);
      if (!first) return null;
      const source = relative(folder, id).replaceAll(sep, '/').replace(/\.js$/, '.ts');
      // On the line of the statement, so that the source map stays as it is.
      return { code: `${code.slice(0, first.start)}/* lib/${source} */ ${code.slice(first.start)}`, map: null };
    },
  };
}

const ownUrlInCommonJs = {
  name: 'own-url-in-common-js',
  resolveImportMeta: (property, { format }) =>
    property === 'url' && format === 'cjs' ? `require('node:url').pathToFileURL(__filename).href` : null,
};

function namesWith(extension) {
  // A chunk of declarations is named after a file x.d.ts without its last extension.
  const chunkFileNames = ({ name }) => `${name.replace(/\.d$/, '')}.${extension}`;
  return { entryFileNames: `[name].${extension}`, chunkFileNames };
}
