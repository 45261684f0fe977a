import type { LintRule } from './lint-rule.js';
import { Senders } from './senders.js';
import { isFunction, isWrapper, methodCall, type Node, type RuleContext } from './tree.js';

const METHODS = new Set(['enqueue', 'enqueueMany', 'publish', 'flow', 'request', 'signal']);

/** Functions that do nothing with the promise of their callback. */
const IGNORING_METHODS = new Set(['forEach']);
const IGNORING_FUNCTIONS = new Set(['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']);

/** Reports calls of producers and queues whose promise is lost: their error ends the process. */
export const awaitEnqueue: LintRule = {
  meta: {
    type: 'problem',
    docs: { description: 'require that the promises of producers and queues are awaited, returned or handled' },
    messages: {
      lost:
        'The promise of {{method}}() is lost: an error would end the process, and a job may miss its transaction. ' +
        'Await it, return it, or handle its error with catch().',
    },
    schema: [],
  },
  create(context: RuleContext) {
    const senders = new Senders(context);
    return {
      CallExpression(node: Node) {
        const { method, object } = methodCall(node) ?? {};
        if (method === undefined || !METHODS.has(method) || !senders.senderOf(object) || !isLost(node)) return;
        context.report({ node, messageId: 'lost', data: { method } });
      },
    };
  },
};

/** Whether nothing waits for the promise, or for the promises, that the expression evaluates to. */
function isLost(node: Node): boolean {
  const parent = node.parent!;
  if (isWrapper(parent)) return isLost(parent);
  switch (parent.type) {
    case 'ExpressionStatement':
      return true;
    case 'UnaryExpression':
      return parent.operator === 'void';
    case 'LogicalExpression':
      return parent.right === node && isLost(parent);
    case 'ConditionalExpression':
      return parent.test !== node && isLost(parent);
    case 'SequenceExpression':
      return parent.expressions!.at(-1) !== node || isLost(parent);
    case 'MemberExpression':
      return parent.object === node && isLostByMethod(parent);
    case 'ArrayExpression':
      return isLostByCombination(parent);
    case 'CallExpression':
      return isCombination(parent) && isLost(parent);
    case 'AwaitExpression':
      return !isCaught(parent) && isLostByFunction(functionAround(parent));
    case 'ReturnStatement':
      return isLostByFunction(functionAround(parent));
    case 'ArrowFunctionExpression':
      return parent.body === node && isLostByFunction(parent);
    default:
      return false;
  }
}

/** `promise.finally(…)`, `promise.then(…)` and `promise.catch()` reject as the promise does. */
function isLostByMethod(member: Node): boolean {
  const call = member.parent!;
  if (call.type !== 'CallExpression' || call.callee !== member) return false;
  const { method } = methodCall(call) ?? {};
  const { length } = call.arguments!;
  const isPassedOn = method === 'finally' || (method === 'then' && length < 2) || (method === 'catch' && length === 0);
  return isPassedOn && isLost(call);
}

function isLostByCombination(array: Node): boolean {
  const call = array.parent!;
  return call.type === 'ExpressionStatement' || (call.type === 'CallExpression' && isCombination(call) && isLost(call));
}

/** `Promise.all(…)`, which rejects as its promises do. */
function isCombination(call: Node): boolean {
  const { method, object } = methodCall(call) ?? {};
  return object?.name === 'Promise' && (method === 'all' || method === 'race' || method === 'any');
}

/** Whether the caller of the function loses the promise, or the promises, that it returns. */
function isLostByFunction(callback: Node | undefined): boolean {
  const call = callback?.parent;
  if (call?.type !== 'CallExpression') return false;
  if (call.callee === callback) return isLost(call);
  const { method } = methodCall(call) ?? {};
  if (method === 'map' || method === 'flatMap') return isLost(call);
  return (method !== undefined && IGNORING_METHODS.has(method)) || IGNORING_FUNCTIONS.has(call.callee!.name ?? '');
}

function functionAround(node: Node): Node | undefined {
  let outer = node.parent;
  while (outer && !isFunction(outer)) outer = outer.parent;
  return outer;
}

/** Whether a `try` of the same function catches the error. */
function isCaught(node: Node): boolean {
  let inner = node;
  for (let outer = node.parent; outer && !isFunction(outer); inner = outer, outer = outer.parent)
    if (outer.type === 'TryStatement' && outer.block === inner && outer.handler) return true;
  return false;
}
