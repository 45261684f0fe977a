// Forbids `new Date()`, which reads the clock, and allows `new Date(ms)`. Other rules about time need no plugin.
const rule = {
  create: (context) => ({
    NewExpression(node) {
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'Date' || node.arguments.length > 0) return;
      context.report({
        node,
        message: 'Time is injected: use a Clock (lib/common/clock.ts), so that tests can set the time.',
      });
    },
  }),
};

export default { meta: { name: 'clock' }, rules: { 'no-new-date': rule } };
