// The floors of lib/store, from the top to the ground: which folders of the store a folder imports, types included, and
// why no others. A rule of its own, because each `no-restricted-imports` of an override replaces those of earlier ones.
import { dirname, join, relative, resolve, sep } from 'node:path';

const BELOW_FEATURES = ['ends', 'reads', 'rows', 'core', 'tables'];

const FLOORS = {
  codec: {
    on: ['.', 'admin', 'verbs', 'features/*', 'rows'],
    because: 'it decorates the ports, whatever implements them',
  },
  '.': {
    on: [
      ...['databases', 'databases/port', 'doctor', 'admin', 'verbs', 'features/*'],
      ...['schema', 'rows', 'core', 'tables', 'notifications'],
    ],
    because:
      'it connects all parts of a store to the record of its database, and engine decorates the result with codecs',
  },
  databases: {
    on: ['databases/*', 'databases/*/checks', 'databases/port', 'schema', 'core', 'tables'],
    because: 'it has one record per database, and nothing above it asks which database it is',
  },
  'databases/*/checks': {
    on: ['databases/*', 'databases/*/claim', 'doctor', 'schema', 'core', 'tables'],
    because: 'the checks of one database are read beside the doctor, which knows no database',
  },
  'databases/*': {
    on: ['databases/*/claim', 'databases/port', 'schema', 'rows', 'core', 'tables', 'notifications'],
    because: 'a database implements the port and core, and can be read, and removed, without the others',
  },
  'databases/port': {
    on: ['doctor', 'schema', 'rows', 'core', 'tables', 'notifications'],
    because: 'it is the interface of all databases, and knows none of them',
  },
  doctor: {
    on: ['features/*', 'schema', 'core', 'tables', 'notifications'],
    because: 'it examines any database, and each database adds its own checks',
  },
  'databases/*/claim': {
    on: ['rows', 'core', 'tables'],
    because: 'a claim strategy is read in its own file: verbs surround it with limits and groups',
  },
  admin: {
    on: ['features/*', ...BELOW_FEATURES],
    because: 'the changes of administrators stand beside the verbs of workers, and know no server',
  },
  verbs: {
    on: ['features/*', ...BELOW_FEATURES],
    because: 'the verbs of producers and workers stand beside the changes of administrators, and know no server',
  },
  'features/*': {
    on: ['features/*', ...BELOW_FEATURES],
    because: 'the verbs of workers and administrators stand on features, so that each feature can be read alone',
  },
  ends: {
    on: ['rows', 'core', 'tables'],
    because: 'features enqueue and end jobs with it, so it has what a start or an end does to their tables',
  },
  reads: {
    on: ['rows', 'core', 'tables'],
    because: 'features and administrators find jobs with it, and it changes nothing',
  },
  rows: {
    on: ['core', 'tables'],
    because: 'all features and verbs read and write the rows of jobs and claims with it',
  },
  schema: {
    on: ['core', 'tables'],
    because: 'it creates the tables before any feature reads them',
  },
  core: {
    on: ['tables'],
    because: 'it sends the statements of all features, and knows no job',
  },
  tables: { on: [], because: 'all other folders stand on the names and columns of tables' },
  notifications: { on: [], because: 'it is the port that every database implements' },
};

const STORE = resolve(import.meta.dirname, '../../lib/store');

/** The folder of a file, from lib/store; undefined outside of it. */
function folderOf(file) {
  const path = relative(STORE, dirname(file)).split(sep).join('/');
  return path.startsWith('..') ? undefined : path || '.';
}

// `features/*` for `features/keys`, `databases/*/claim` for `databases/mysql/claim`.
function floorOf(folder) {
  return folder in FLOORS ? folder : folder.replace(/\/[^/]+/, '/*');
}

function nameOf(folder) {
  return folder === '.' ? 'store/*.ts' : `store/${folder}`;
}

const rule = {
  create(context) {
    const folder = folderOf(context.filename);
    if (folder === undefined) return {};
    const floor = FLOORS[floorOf(folder)];
    const check = (node) => {
      const specifier = node.source?.value;
      if (!specifier?.startsWith('.')) return;
      const target = folderOf(join(dirname(context.filename), specifier));
      if (target === undefined || target === folder) return;
      if (!floor)
        context.report({ node, message: `Give store/${folder} a floor in scripts/lint/floors.mjs, with the reason.` });
      else if (!floor.on.includes(floorOf(target)))
        context.report({ node, message: `${nameOf(folder)} imports nothing of ${nameOf(target)}: ${floor.because}.` });
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      TSImportType: check,
    };
  },
};

export default { meta: { name: 'store' }, rules: { floors: rule } };
