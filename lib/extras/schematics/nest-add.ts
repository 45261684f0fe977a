import { posix } from 'node:path';
import { withEntry } from './edit-module.js';
import { addDependencies, packagesOf } from './manifest.js';
import { filesBelow, textOf, write, type Rule, type SchematicLogger, type Tree } from './tree.js';

export interface AddOptions {
  readonly sourceRoot?: string;
  /** The command line passes it on. */
  readonly skipInstall?: boolean;
}

const REGISTRATION = 'SqlQueueModule.forRoot()';
const REGISTERS = /\bSqlQueueModule\s*\.\s*forRoot(?:Async)?\s*\(/;
const CREATES_APPLICATION = /^([ \t]*)(?:const|let) (\w+) = await NestFactory\.create(?:<[^>]*>)?\([^;]*\);$/m;
const DRIVER = 'better-sqlite3';
const INSTALLATION = { name: 'node-package', options: { command: 'install', allowScripts: true } };

/** `nest add nestjs-sql-queue`: the root module imports SqlQueueModule. A second run changes nothing. */
export function nestAdd({ sourceRoot = 'src', skipInstall = false }: AddOptions): Rule {
  return (tree, context) => {
    const sources = [...filesBelow(tree.getDir(posix.join('/', sourceRoot)))].filter((path) => path.endsWith('.ts'));
    const owner = sources.find((path) => REGISTERS.test(textOf(tree, path)));
    if (owner === undefined) register(tree, rootModule(tree, sourceRoot), context.logger);
    else context.logger.info(`${owner} registers SqlQueueModule already.`);
    enableShutdownHooks(tree, posix.join('/', sourceRoot, 'main.ts'), context.logger);
    if (addDriver(tree) && !skipInstall) context.addTask({ toConfiguration: () => INSTALLATION });
    if (!sources.some((path) => /\bTypeOrmModule\b/.test(textOf(tree, path))))
      context.logger.info('Without TypeOrmModule, jobs are in the file sql-queue.sqlite, for development.');
  };
}

function register(tree: Tree, module: string | undefined, logger: SchematicLogger): void {
  const added = { property: 'imports', expression: REGISTRATION, name: 'SqlQueueModule' } as const;
  const edited = module && withEntry(textOf(tree, module), { ...added, from: 'nestjs-sql-queue' });
  if (module && edited) write(tree, module, edited);
  else logger.warn(`The root module has no list of imports: add ${REGISTRATION} to it.`);
}

/** The module that main.ts creates, else app.module.ts. */
function rootModule(tree: Tree, sourceRoot: string): string | undefined {
  const main = textOf(tree, posix.join('/', sourceRoot, 'main.ts'));
  const created = /\bNestFactory\.\w+(?:<[^>]*>)?\(\s*(\w+)/.exec(main)?.[1];
  const imported = new RegExp(`import\\s*\\{[^}]*\\b${created}\\b[^}]*\\}\\s*from\\s*['"](\\.[^'"]*)['"]`).exec(
    main,
  )?.[1];
  const names = [imported?.replace(/\.js$/, ''), './app.module'].filter((name) => name !== undefined);
  return names.map((name) => posix.join('/', sourceRoot, `${name}.ts`)).find((path) => tree.exists(path));
}

/** Adds the call to main.ts, with which running jobs can finish at SIGTERM. */
function enableShutdownHooks(tree: Tree, main: string, logger: SchematicLogger): void {
  const text = textOf(tree, main);
  if (text.includes('enableShutdownHooks')) return;
  if (CREATES_APPLICATION.test(text))
    write(tree, main, text.replace(CREATES_APPLICATION, '$&\n$1$2.enableShutdownHooks();'));
  else logger.info('Call enableShutdownHooks() of the application, so that running jobs can finish at SIGTERM.');
}

/** Adds SQLite, which needs no server, if the project has no driver. Returns whether packages are missing. */
function addDriver(tree: Tree): boolean {
  const packages = packagesOf(tree);
  const added: Record<string, string> = {};
  if (!('typeorm' in packages)) added.typeorm = '^1.1.0';
  if (!('mysql2' in packages || DRIVER in packages)) added[DRIVER] = runsNewDriver() ? '^13.0.0' : '^12.0.0';
  if (Object.keys(added).length === 0) return false;
  // TypeORM 1.1 asks for version 12.
  const overrides = added[DRIVER] === '^13.0.0' ? { typeorm: { [DRIVER]: added[DRIVER] } } : undefined;
  addDependencies(tree, added, overrides);
  return true;
}

/** Version 13 of the driver needs Node 22.14. */
function runsNewDriver(): boolean {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
  return major > 22 || (major === 22 && minor >= 14);
}
