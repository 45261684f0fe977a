import { statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SetUpError } from './set-up-error.js';

/** The settings from the environment and the command line. */
export interface Settings {
  /** Undefined: an SQLite file in the current folder. */
  readonly databaseUrl: URL | undefined;
  /** Undefined: the sample's own mail server, which delivers nothing. */
  readonly smtpUrl: URL | undefined;
  readonly port: number;
  readonly csvPath: string;
  /** End when the queue is empty, instead of serving. */
  readonly once: boolean;
}

const USAGE = 'npm start -- [--once] [people.csv]';

/** Reads and checks the settings. Reports all problems at once. */
export function readSettings(env: NodeJS.ProcessEnv, args: string[]): Settings {
  const problems: string[] = [];
  const { once, csvPath } = readArguments(args, problems);
  const settings = {
    databaseUrl: readUrl('DATABASE_URL', 'mysql://user:password@127.0.0.1:3306/signups', env, problems),
    smtpUrl: readUrl('SMTP_URL', 'smtp://user:password@mail.example.com:587', env, problems),
    port: Number(env.PORT || 3000),
    csvPath: shortest(csvPath),
    once,
  };
  if (settings.databaseUrl && settings.databaseUrl.pathname.length < 2) {
    problems.push(`DATABASE_URL: expected the name of a database at its end, as in mysql://127.0.0.1:3306/signups`);
  }
  if (!statSync(settings.csvPath, { throwIfNoEntry: false })?.isFile())
    problems.push(`expected a CSV file, found none at ${settings.csvPath}`);
  if (!Number.isInteger(settings.port) || settings.port < 0 || settings.port > 65_535) {
    problems.push(`PORT: expected a number from 0 (any free port) to 65535, got "${env.PORT}"`);
  }
  if (problems.length > 0) throw new SetUpError(problems.join('\n'));
  return settings;
}

function readArguments(args: string[], problems: string[]) {
  // This path is valid from this folder and from the build folder.
  const shipped = fileURLToPath(new URL('../../../sample/01-signups/signups.csv', import.meta.url));
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { once: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    return { once: values.once, csvPath: positionals[0] ?? shipped };
  } catch {
    problems.push(`expected ${USAGE}, got "${args.join(' ')}"`);
    return { once: false, csvPath: shipped };
  }
}

function shortest(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? resolve(path) : fromHere;
}

const PROTOCOLS = {
  DATABASE_URL: ['mysql:', 'mariadb:'],
  SMTP_URL: ['smtp:', 'smtps:'],
};

function readUrl(
  variable: keyof typeof PROTOCOLS,
  example: string,
  env: NodeJS.ProcessEnv,
  problems: string[],
): URL | undefined {
  const text = env[variable];
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.hostname && PROTOCOLS[variable].includes(url.protocol)) return url;
  problems.push(`${variable}: expected something like ${example}, got "${text}"`);
  return undefined;
}

/** The URL without its password, for output. */
export function withoutPassword(url: URL): string {
  const copy = new URL(url);
  if (copy.password) copy.password = '***';
  return copy.href;
}
