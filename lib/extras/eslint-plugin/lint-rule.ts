/** A rule of ESLint and oxlint. Their types are wider, and this package depends on neither. */
export interface LintRule {
  readonly meta: {
    readonly type: 'problem';
    readonly docs: { readonly description: string };
    readonly messages: Record<string, string>;
    readonly schema: [];
  };
  create(context: never): Record<string, (node: never) => void>;
}
