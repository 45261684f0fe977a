/** A node of the tree that ESLint and oxlint build, with the fields that the rules read. Each type of node has some. */
export interface Node {
  readonly type: string;
  readonly parent?: Node;
  readonly argument?: Node | null;
  readonly arguments?: readonly Node[];
  readonly body?: Node | readonly Node[];
  readonly callee?: Node;
  readonly computed?: boolean;
  readonly decorators?: readonly Node[];
  readonly expression?: Node | boolean;
  readonly expressions?: readonly Node[];
  readonly handler?: Node | null;
  readonly block?: Node;
  readonly id?: Node | null;
  readonly imported?: Node;
  readonly init?: Node | null;
  readonly key?: Node;
  readonly kind?: string;
  readonly left?: Node;
  readonly local?: Node;
  readonly name?: string;
  readonly object?: Node;
  readonly operator?: string;
  readonly parameter?: Node;
  readonly params?: readonly Node[];
  readonly properties?: readonly Node[];
  readonly property?: Node;
  readonly right?: Node;
  readonly source?: Node;
  readonly specifiers?: readonly Node[];
  readonly typeAnnotation?: Node | null;
  readonly typeName?: Node;
  readonly types?: readonly Node[];
  readonly test?: Node;
  readonly value?: unknown;
}

interface Variable {
  readonly defs: readonly { readonly type: string; readonly name: Node; readonly node: Node }[];
}

interface Scope {
  readonly upper: Scope | null;
  readonly set: ReadonlyMap<string, Variable>;
}

/** The part of the context of ESLint and oxlint that the rules use. */
export interface RuleContext {
  readonly sourceCode: { readonly ast: Node; getScope(node: Node): Scope };
  report(problem: { node: Node; messageId: string; data?: Record<string, string> }): void;
}

/** The variable that a name stands for; undefined for globals. */
export function variableOf(name: Node, context: RuleContext): Variable | undefined {
  for (let scope: Scope | null = context.sourceCode.getScope(name); scope; scope = scope.upper) {
    const variable = scope.set.get(name.name!);
    if (variable) return variable;
  }
  return undefined;
}

export function isFunction(node: Node): boolean {
  return ['ArrowFunctionExpression', 'FunctionExpression', 'FunctionDeclaration'].includes(node.type);
}

/** The name of a property: `enqueue` for `x.enqueue`, `#jobs` for `x.#jobs`; undefined for `x[name]`. */
export function nameOfKey(key: Node | undefined, isComputed: boolean | undefined): string | undefined {
  if (key?.type === 'PrivateIdentifier') return `#${key.name}`;
  if (key?.type === 'Literal' && typeof key.value === 'string') return key.value;
  return isComputed ? undefined : key?.name;
}

const WRAPPERS = [
  'ChainExpression',
  'ParenthesizedExpression',
  'TSNonNullExpression',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSTypeAssertion',
];

/** Whether the node has the value of the expression in it, as `x!` and `x as T` do. */
export function isWrapper(node: Node): boolean {
  return WRAPPERS.includes(node.type);
}

/** The method and the object of a call: `enqueue` and `this.producer` for `this.producer.enqueue(…)`. */
export function methodCall(call: Node): { method: string; object: Node } | undefined {
  let { callee } = call;
  while (callee && isWrapper(callee)) callee = callee.expression as Node;
  if (callee?.type !== 'MemberExpression') return undefined;
  const method = nameOfKey(callee.property, callee.computed);
  return method === undefined ? undefined : { method, object: callee.object! };
}
