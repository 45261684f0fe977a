import { awaitEnqueue } from './await-enqueue.js';
import { enqueueWithManager } from './enqueue-with-manager.js';
import type { LintRule } from './lint-rule.js';

export type { LintRule } from './lint-rule.js';

/** The plugin for ESLint and oxlint. Its named exports are the parts of its default export, for `require`. */
export interface LintPlugin {
  readonly meta: { readonly name: string };
  readonly rules: Record<'await-enqueue' | 'enqueue-with-manager', LintRule>;
  readonly configs: { readonly recommended: LintConfig };
}

/** A flat configuration of ESLint. */
export interface LintConfig {
  name: string;
  plugins: Record<string, { meta: { name: string }; rules: Record<string, LintRule> }>;
  rules: Record<string, 'error'>;
}

export const meta: LintPlugin['meta'] = { name: 'nestjs-sql-queue' };

export const rules: LintPlugin['rules'] = {
  'await-enqueue': awaitEnqueue,
  'enqueue-with-manager': enqueueWithManager,
};

export const configs: LintPlugin['configs'] = {
  recommended: {
    name: 'nestjs-sql-queue/recommended',
    plugins: { [meta.name]: { meta, rules } },
    rules: Object.fromEntries(Object.keys(rules).map((name) => [`${meta.name}/${name}`, 'error' as const])),
  },
};

const plugin: LintPlugin = { meta, rules, configs };
export default plugin;
