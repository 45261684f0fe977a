// The one rule about time that needs to see an expression: `new Date(ms)` is a value, `new Date()` is a clock.
const rule = {
  create: (context) => ({
    NewExpression(node) {
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'Date' || node.arguments.length > 0) return;
      context.report({
        node,
        message: 'Time is injected: take a Clock and ask it, so that tests can set the time.',
      });
    },
  }),
};

export default { meta: { name: 'clock' }, rules: { 'no-new-date': rule } };
