import type { LintRule } from './lint-rule.js';
import { Senders, type Sender } from './senders.js';
import { isFunction, methodCall, nameOfKey, type Node, type RuleContext } from './tree.js';

/** The positions of the options of each method. */
const OPTIONS: Record<Sender['type'], ReadonlyMap<string, number>> = {
  QueueProducer: new Map([
    ['enqueue', 2],
    ['enqueueMany', 2],
    ['publish', 2],
    ['flow', 1],
    ['signal', 3],
  ]),
  Queue: new Map([
    ['enqueue', 1],
    ['enqueueMany', 1],
  ]),
};

/** Methods of TypeORM and other ORMs that run a callback in a transaction. */
const TRANSACTIONS = new Set(['transaction', '$transaction', 'transactional']);

/** Functions that call back when a transaction has ended, such as `runOnTransactionCommit`. */
const AFTER_TRANSACTION = /(?:on|after).*(?:commit|rollback|complete)/i;

/** Reports jobs that are stored beside the transaction around them: they stay if it rolls back. */
export const enqueueWithManager: LintRule = {
  meta: {
    type: 'problem',
    docs: { description: 'require that a job joins the transaction around it' },
    messages: {
      beside:
        '{{method}}() stores its job beside this transaction: the job stays if the transaction rolls back. Pass ' +
        '{ manager }, or use withManager(manager). For another ORM than TypeORM, use enqueueStatement().',
    },
    schema: [],
  },
  create(context: RuleContext) {
    const senders = new Senders(context);
    return {
      CallExpression(node: Node) {
        const { method, object } = methodCall(node) ?? {};
        if (method === undefined || !OPTIONS.QueueProducer.has(method)) return;
        const sender = senders.senderOf(object);
        if (!sender || sender.isBound || !isInTransaction(node)) return;
        const position = OPTIONS[sender.type].get(method);
        if (position === undefined || mayHaveManager(node, method, position)) return;
        context.report({ node, messageId: 'beside', data: { method } });
      },
    };
  },
};

function isInTransaction(node: Node): boolean {
  for (let inner: Node | undefined = node; inner; inner = inner.parent) {
    const call: Node | undefined = inner.parent;
    if (!isFunction(inner) || call?.type !== 'CallExpression' || call.callee === inner) continue;
    const name = methodCall(call)?.method ?? call.callee!.name ?? '';
    if (AFTER_TRANSACTION.test(name)) return false;
    if (TRANSACTIONS.has(name)) return true;
  }
  return false;
}

/** Whether the options have a manager, or are a value that the rule cannot see into. */
function mayHaveManager(call: Node, method: string, position: number): boolean {
  const given = call.arguments!;
  if (given.some(({ type }) => type === 'SpreadElement')) return true;
  const options = given[position] ?? (method === 'enqueueMany' ? optionsOfMany(given, position) : undefined);
  if (options?.type !== 'ObjectExpression') return options !== undefined;
  return options.properties!.some(
    ({ type, key, computed, value }) =>
      type === 'SpreadElement' || (nameOfKey(key, computed) === 'manager' && (value as Node).name !== 'undefined'),
  );
}

/** `enqueueMany(jobs, options)` of a producer, beside `enqueueMany(queue, jobs)`. */
function optionsOfMany([first, second]: readonly Node[], position: number): Node | undefined {
  const namesQueue = first?.type === 'Literal' || first?.type === 'TemplateLiteral';
  return position < 2 || namesQueue || second?.type === 'ArrayExpression' ? undefined : second;
}
