// An element of a module lives as long as the page: Preact links it to the first tree that used it, which then is never freed.
const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

const MESSAGE = 'An element at module level keeps the first tree that uses it. Create it in a function.';

const HOLDERS = ['VariableDeclarator', 'AssignmentExpression', 'PropertyDefinition', 'ExportDefaultDeclaration'];

function isHeldByModule(node) {
  let isHeld = false;
  for (let { parent } = node; parent; { parent } = parent) {
    if (FUNCTIONS.includes(parent.type)) return false;
    isHeld ||= HOLDERS.includes(parent.type);
  }
  return isHeld;
}

const rule = {
  create(context) {
    const check = (node) => {
      if (isHeldByModule(node)) context.report({ node, message: MESSAGE });
    };
    return { JSXElement: check, JSXFragment: check };
  },
};

export default { meta: { name: 'elements' }, rules: { 'only-in-functions': rule } };
