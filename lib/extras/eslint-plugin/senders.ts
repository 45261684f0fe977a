import { isFunction, isWrapper, methodCall, nameOfKey, variableOf, type Node, type RuleContext } from './tree.js';

/** An object that stores jobs. It is bound if `withManager` has made it. */
export interface Sender {
  readonly type: 'QueueProducer' | 'Queue';
  readonly isBound: boolean;
}

const LIBRARY = 'nestjs-sql-queue';

/**
 * Recognizes producers and queues by the types and decorators that a file imports from this library, because the rules run
 * without types. An object of unknown type is none, so a `Queue` of another library is left alone.
 */
export class Senders {
  readonly #context: RuleContext;
  /** What the file imports from the library: local names with the exported ones. */
  readonly #imported = new Map<string, string>();
  readonly #namespaces = new Set<string>();

  constructor(context: RuleContext) {
    this.#context = context;
    for (const { type, source, specifiers } of context.sourceCode.ast.body as readonly Node[]) {
      if (type !== 'ImportDeclaration' || source?.value !== LIBRARY) continue;
      for (const { local, imported } of specifiers!) {
        if (imported) this.#imported.set(local!.name!, (imported.name ?? imported.value) as string);
        else this.#namespaces.add(local!.name!);
      }
    }
  }

  /** The sender that an expression evaluates to. */
  senderOf(expression: Node | null | undefined, seen: ReadonlySet<Node> = new Set()): Sender | undefined {
    if (!expression || seen.has(expression)) return undefined;
    const next = new Set(seen).add(expression);
    switch (expression.type) {
      case 'Identifier':
        return this.#senderOfVariable(expression, next);
      case 'MemberExpression':
        return expression.object!.type === 'ThisExpression' ? this.#senderOfMember(expression, next) : undefined;
      case 'CallExpression':
        return this.#senderOfCall(expression, next);
      case 'AwaitExpression':
        return this.senderOf(expression.argument, next);
      case 'TSAsExpression':
      case 'TSTypeAssertion':
      case 'TSSatisfiesExpression':
        return this.#senderOfType(expression.typeAnnotation) ?? this.senderOf(expression.expression as Node, next);
      default:
        return isWrapper(expression) ? this.senderOf(expression.expression as Node, next) : undefined;
    }
  }

  #senderOfVariable(name: Node, seen: ReadonlySet<Node>): Sender | undefined {
    const definition = variableOf(name, this.#context)?.defs[0];
    if (!definition) return undefined;
    if (definition.type === 'Parameter') return this.#senderOfDeclaration(definition.name);
    const { id, init } = definition.node;
    if (definition.type !== 'Variable' || id?.type !== 'Identifier') return undefined;
    return this.#senderOfDeclaration(id) ?? this.senderOf(init, seen);
  }

  /** `this.producer`: a property, or a parameter of the constructor with a modifier. */
  #senderOfMember({ parent, property, computed }: Node, seen: ReadonlySet<Node>): Sender | undefined {
    const name = nameOfKey(property, computed);
    const members = name === undefined ? [] : membersAround(parent!);
    for (const member of members) {
      if (member.type === 'PropertyDefinition' && nameOfKey(member.key, member.computed) === name)
        return this.#senderOfDeclaration(member) ?? this.senderOf(member.value as Node | null, seen);
      if (member.kind !== 'constructor') continue;
      for (const declared of (member.value as Node).params!)
        if (declared.type === 'TSParameterProperty' && nameOfParameter(declared) === name)
          return this.#senderOfDeclaration(declared);
    }
    return undefined;
  }

  /** `producer.withManager(manager)`, or a class that an application returns: `app.get(QueueProducer)`. */
  #senderOfCall(call: Node, seen: ReadonlySet<Node>): Sender | undefined {
    const { method, object } = methodCall(call) ?? {};
    if (method === 'withManager') {
      const sender = this.senderOf(object, seen);
      return sender && { ...sender, isBound: true };
    }
    return method === 'get' || method === 'resolve' ? senderNamed(this.#exportedName(call.arguments![0])) : undefined;
  }

  #senderOfDeclaration(declared: Node): Sender | undefined {
    const { parameter = declared } = declared;
    const target = parameter.type === 'AssignmentPattern' ? parameter.left! : parameter;
    const decorators = [...(declared.decorators ?? []), ...(target.decorators ?? [])];
    const injects = decorators.some(
      ({ expression }) =>
        (expression as Node).type === 'CallExpression' &&
        this.#exportedName((expression as Node).callee) === 'InjectQueue',
    );
    return injects ? senderNamed('Queue') : this.#senderOfType(target.typeAnnotation);
  }

  #senderOfType(type: Node | null | undefined): Sender | undefined {
    switch (type?.type) {
      case 'TSTypeAnnotation':
        return this.#senderOfType(type.typeAnnotation);
      case 'TSUnionType':
        return type.types!.map((member) => this.#senderOfType(member)).find(Boolean);
      case 'TSTypeReference':
        return senderNamed(this.#exportedName(type.typeName));
      default:
        return undefined;
    }
  }

  /** The name under which the library exports a class: `Queue` for `Queue`, for `Jobs` and for `library.Queue`. */
  #exportedName(name: Node | undefined): string | undefined {
    const [namespace, member] =
      name?.type === 'TSQualifiedName' ? [name.left!, name.right!] : [name?.object, name?.property];
    if (namespace && member) return this.#namespaces.has(namespace.name!) ? member.name : undefined;
    return name?.type === 'Identifier' ? this.#imported.get(name.name!) : undefined;
  }
}

function senderNamed(name: string | undefined): Sender | undefined {
  return name === 'QueueProducer' || name === 'Queue' ? { type: name, isBound: false } : undefined;
}

/** The members of the class that `this` belongs to. */
function membersAround(node: Node): readonly Node[] {
  let inner = node;
  for (let outer = node.parent; outer; inner = outer, outer = outer.parent) {
    if (outer.type === 'ClassBody') return outer.body as readonly Node[];
    const isMethod = outer.type === 'MethodDefinition' || outer.type === 'PropertyDefinition';
    if (isFunction(inner) && inner.type !== 'ArrowFunctionExpression' && !isMethod) return [];
  }
  return [];
}

function nameOfParameter({ parameter }: Node): string | undefined {
  return parameter!.type === 'AssignmentPattern' ? parameter!.left!.name : parameter!.name;
}
