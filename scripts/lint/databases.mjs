// Only the records of lib/store/databases, the command line, which reads a URL, and the schematics, which install a driver, know
// which database it is. An `if` elsewhere would take one of the databases for an unknown one.
import { relative, resolve, sep } from 'node:path';

const LIB = resolve(import.meta.dirname, '../../lib');
const TYPES = ['mysql', 'mariadb', 'sqlite', 'better-sqlite3', 'postgres'];

const NAMED =
  'Only lib/store/databases, lib/extras/cli and lib/extras/schematics name a database: a new one must need no `if` ' +
  'elsewhere. Add what differs to the interface Database (lib/store/databases/port/database.ts), to Dialect or to Words.';

function isOutside(file) {
  const path = relative(LIB, file).split(sep).join('/');
  return !path.startsWith('..') && !/^(?:store\/databases|extras\/(?:cli|schematics))\//.test(path);
}

const isType = (node) => node?.type === 'Literal' && TYPES.includes(node.value);
const isDialect = (node) =>
  (node?.type === 'Identifier' && node.name === 'dialect') ||
  (node?.type === 'MemberExpression' && !node.computed && node.property.name === 'dialect');
const hasName = (node) =>
  node?.type === 'ObjectPattern' &&
  node.properties.some(({ key }) => key?.type === 'Identifier' && key.name === 'name');

const rule = {
  create(context) {
    if (!isOutside(context.filename)) return {};
    const report = (node) => context.report({ node, message: NAMED });
    return {
      Literal: (node) => node.value === 'better-sqlite3' && report(node),
      BinaryExpression: (node) => (isType(node.left) || isType(node.right)) && report(node),
      SwitchCase: (node) => isType(node.test) && report(node),
      MemberExpression(node) {
        const { property } = node;
        if (isDialect(node.object) && !node.computed && property.name === 'name') report(node);
      },
      VariableDeclarator: (node) => isDialect(node.init) && hasName(node.id) && report(node),
    };
  },
};

export default { meta: { name: 'databases' }, rules: { 'named-only-there': rule } };
