import type { DataSourceOptions } from 'typeorm';
import type { Duration } from '../common/units.js';
import { expected, isOptions } from '../job/expectation.js';
import { didYouMean, formatValue, orList } from '../common/message-text.js';
import { DATABASE_TYPES, findDatabase } from '../store/databases/index.js';
import { duration, option, optionProblems, resolveOptions, whole, type SchemaOf } from '../job/option-schema.js';

/** How the module connects to its database, by the names that TypeOrmModule has for the same options. */
export interface ConnectionRetryOptions {
  /** How often the boot tries to connect while the database is down, 1 to 10,000. Default 10. */
  retryAttempts?: number;
  /** The pause between two attempts. Default 3s. */
  retryDelay?: Duration;
}

/** A database for the queue only: the options of a DataSource. */
export type QueueConnection = DataSourceOptions & ConnectionRetryOptions;

const RETRY = {
  retryAttempts: option(whole(1, 10_000), 10),
  retryDelay: option(duration, '3s'),
} satisfies SchemaOf<ConnectionRetryOptions>;

/** The fields of all kinds of options that messages read. */
type AnyOptions = Partial<Record<'url' | 'password', unknown>>;

export function connectionProblems(connection: unknown): (string | undefined)[] {
  if (connection === 'embedded') return [];
  if (typeof connection === 'string') return [textProblem(connection)];
  if (!isOptions(connection))
    return [expected(false, `connection to be the options of a DataSource, or 'embedded'`, connection)];
  if (!('type' in connection) || typeof connection.type !== 'string') {
    return [
      `expected connection to have a \`type\` (${orList(DATABASE_TYPES.map((type) => `'${type}'`))}), got none. The queue uses no Redis`,
    ];
  }
  const { retryAttempts, retryDelay } = connection as ConnectionRetryOptions;
  const problems = optionProblems(RETRY, { retryAttempts, retryDelay }, { prefix: 'connection.' });
  return [...problems, placeProblem(connection as DataSourceOptions)];
}

/** The options of the DataSource alone. */
export function dataSourceOptions(connection: QueueConnection): DataSourceOptions {
  const { retryAttempts: _, retryDelay: __, ...options } = connection;
  return options;
}

/** @param connection undefined, or options that have been checked */
export function retryOf(connection: QueueConnection | 'embedded' | undefined): { attempts: number; delayMs: number } {
  const { retryAttempts, retryDelay } = typeof connection === 'object' ? connection : ({} as ConnectionRetryOptions);
  const { retryAttempts: attempts, retryDelay: delayMs } = resolveOptions(RETRY, { retryAttempts, retryDelay });
  return { attempts, delayMs };
}

/** The text without the password of the options, which a driver may quote. */
export function withoutPassword(text: string, options: object): string {
  const { url, password } = options as AnyOptions;
  const secrets = [password, ...(typeof url === 'string' ? passwordsOf(url) : [])];
  return secrets
    .filter((secret): secret is string => typeof secret === 'string' && secret !== '')
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
}

function textProblem(connection: string): string {
  const got = `expected connection to be the options of a DataSource, or 'embedded', got`;
  if (!connection.includes('://')) return `${got} ${formatValue(connection)}${didYouMean(connection, ['embedded'])}`;
  return `${got} ${formatValue(withoutPassword(connection, { url: connection }))}. Write connection: { type: 'mysql', url: … }`;
}

/** Undefined for the options of another type, which `databaseOf` refuses. */
function placeProblem(options: DataSourceOptions): string | undefined {
  const found = findDatabase(options.type)?.connection.placeProblem(options);
  if (!found?.isUnset) return found?.problem;
  return (
    `${found.problem}. forRoot() reads it while its file is loaded: a value of ConfigModule needs forRootAsync(), and a ` +
    'variable of the environment must be set before'
  );
}

/** As it stands in the URL, and decoded. */
function passwordsOf(url: string): string[] {
  const password = /^[^/]*\/\/[^/]*?:(.*)@/.exec(url)?.[1];
  if (password === undefined) return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
