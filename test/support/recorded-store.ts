import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Templates } from '../../lib/store/core/template.js';
import { openStore, type OpenStore, type StoreSettings } from '../../lib/store/open-store.js';
import { clockText, stableText } from './stable-text.js';

const ROOT = join(import.meta.dirname, '../..');
/** scripts/test.mjs creates the folder, and compares the records in it with test/golden. */
const folder = process.env.SQL_QUEUE_TEST_STATEMENTS;

/** A call of a verb by a contract suite. */
interface Call {
  readonly server: string;
  /** Its port and method, such as `jobs.complete`. */
  readonly verb: string;
  readonly file: string;
}

const calls = new AsyncLocalStorage<Call>();
const recorded = new Set<string>();

// Each statement passes here, on all databases and in transactions of callers. No option of the library could observe
// them without a cost outside of tests.
const { bind } = Templates.prototype;
if (folder !== undefined) {
  Templates.prototype.bind = function (statement) {
    const call = calls.getStore();
    if (call) {
      record(call, statement.sql, () => stableText(this, statement));
      record({ ...call, verb: ':now' }, ':now', () => clockText(this));
    }
    return bind.call(this, statement);
  };
}

/** Opens a store. In a contract suite of `npm test`, it records the statements of each verb. */
export async function openRecordedStore(settings: StoreSettings): Promise<OpenStore> {
  const file = contractSuite();
  if (folder === undefined || file === undefined) return openStore(settings);
  const { type } = settings.dataSource.options;
  const call = { server: type === 'better-sqlite3' ? 'sqlite' : type, file };
  const stores = await calls.run({ ...call, verb: 'openStore' }, () => openStore(settings));
  const ports = Object.entries(stores).map(([name, port]) => [name, recording(call, name, port)]);
  return Object.fromEntries(ports) as OpenStore;
}

/** The file of the test that runs, if it is a contract suite. The programs of other tests run without Vitest. */
function contractSuite(): string | undefined {
  const { testPath } = (globalThis as { expect?: typeof expect }).expect?.getState() ?? {};
  return testPath?.includes('/test/contract/') ? relative(ROOT, testPath) : undefined;
}

/** The verbs whose results have verbs, and the names of these. */
const RESULTS: Readonly<Record<string, string>> = {
  content: 'content',
  'content.rekey': 'content.rekey',
  'workerLocks.acquire': 'workerLock',
};

/** A port whose verbs record their statements, or such a verb. Returns other values unchanged. */
function recording(call: Omit<Call, 'verb'>, name: string, value: unknown): unknown {
  if (typeof value === 'function') {
    return (...args: unknown[]): unknown => {
      const verb = `${name}${strategyOf(args)}`;
      const result: unknown = calls.run({ ...call, verb }, () => (value as (...given: unknown[]) => unknown)(...args));
      const resultName = RESULTS[name];
      if (resultName === undefined) return result;
      const recordResult = (given: unknown) => recording(call, resultName, given);
      return result instanceof Promise ? result.then(recordResult) : recordResult(result);
    };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return new Proxy(value, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      return typeof member === 'function' ? recording(call, `${name}.${String(key)}`, member.bind(target)) : member;
    },
  });
}

/** Each strategy has statements of its own, so it is part of the name of a claiming verb. */
function strategyOf(args: readonly unknown[]): string {
  const claim = args.find((arg) => typeof arg === 'object' && arg !== null && 'strategy' in arg && 'claimId' in arg);
  return claim ? ` by ${(claim as { strategy: string }).strategy}` : '';
}

/** Appends the text to the file of this process, once for each verb of a server. */
function record({ server, verb, file }: Call, sql: string, textOf: () => string): void {
  const key = `${server} ${verb} ${sql}`;
  if (recorded.has(key)) return;
  recorded.add(key);
  const text = textOf();
  if (isDefinition(text)) return;
  appendFileSync(join(folder!, `${process.pid}`), `${JSON.stringify({ server, verb, file, text })}\n`);
}

/** Other tests compare the tables that the migrations make. */
function isDefinition(text: string): boolean {
  return /^\s*(CREATE|ALTER|DROP)\b/.test(text);
}
