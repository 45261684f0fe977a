import { transform } from '@swc/core';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { rollup } from 'rollup';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { exports: object };
const ENTRIES = Object.keys(exports)
  .filter((path) => !path.endsWith('.json'))
  .map((path) => path.replace('.', 'nestjs-sql-queue'));
const OPTIONAL_PEERS = ['@nestjs/terminus', 'prom-client', '@bull-board/api'];

// The installed package: the tarball, beside the peer dependencies of this repository.
describe('the published package', () => {
  let folder: string;
  let project: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sql-queue-package-'));
    project = join(folder, 'project');
    await installPackage();
    await installPeers();
    await writeFile(join(project, 'package.json'), '{ "private": true }');
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('exports the same names to import and to require, from each entry point', async () => {
    for (const entry of ENTRIES) {
      const names = `Object.keys(m).filter((name) => !['default', '__esModule', 'module.exports'].includes(name)).sort()`;
      const imported = await node('esm.mjs', `import * as m from '${entry}'; console.log(${names}.join());`);
      const required = await node('cjs.cjs', `const m = require('${entry}'); console.log(${names}.join());`);

      expect(imported).not.toBe('');
      expect(required).toBe(imported);
    }
  });

  it('loads at most six files for the main entry point', async () => {
    const imported = await loadedBy('index.js');
    const required = await loadedBy('index.cjs');

    expect(imported.files.length).toBeLessThanOrEqual(6);
    expect(required.files.length).toBeLessThanOrEqual(6);
  });

  it('prints the help of the command line without TypeORM, Nest and the code that needs them', async () => {
    const { files, packages } = await loadedBy('cli.js');
    const { stdout } = await run(process.execPath, [join(dist(), 'cli.js'), '--help']);

    expect(packages.filter((name) => !name.startsWith('node:'))).toEqual(['fastest-levenshtein', 'reflect-metadata']);
    expect(files.length).toBeLessThanOrEqual(3);
    expect(stdout).toContain('status');
  });

  it.each([
    ['stack.mjs', `import { aesGcm } from 'nestjs-sql-queue';`],
    ['stack.cjs', `const { aesGcm } = require('./node_modules/nestjs-sql-queue/dist/index.cjs');`],
  ])(
    'names its functions in a stack, and the lines of its sources with --enable-source-maps: %s',
    async (name, load) => {
      const program = `${load} try { aesGcm({ keys: [] }); } catch (error) { console.log(error.stack); }`;

      const plain = await node(name, program);
      const mapped = await node(name, program, '--enable-source-maps');

      expect(plain).toMatch(/at (?:Object\.)?aesGcm \(.*nestjs-sql-queue\/dist\/\w+\.c?js:\d+:\d+\)/);
      const [, file, line] = /at (?:Object\.)?aesGcm \(.*\/nestjs-sql-queue\/(lib\/\S+\/aes-gcm\.ts):(\d+)/.exec(
        mapped,
      )!;
      const source = (await readFile(join(root, file!), 'utf8')).split('\n');
      expect(source[Number(line) - 1]).toContain('InvalidOptionsError.throwIfAny');
    },
  );

  it('has source maps that name existing sources, by paths of the repository', async () => {
    const maps = (await readdir(dist())).filter((name) => name.endsWith('.map'));
    const sources = new Set<string>();
    for (const name of maps) {
      const map = JSON.parse(await readFile(join(dist(), name), 'utf8')) as {
        sources: string[];
        sourcesContent?: string[];
      };
      expect(map.sourcesContent).toBeUndefined();
      for (const source of map.sources) sources.add(source);
    }

    expect(maps.length).toBeGreaterThan(0);
    expect(
      [...sources].filter((source) => !source.startsWith('../lib/') || !existsSync(join(root, 'lib', source))),
    ).toEqual([]);
  });

  it('keeps the names of all classes, which errors and Nest show', async () => {
    const renamed: string[] = [];
    for (const name of (await readdir(dist())).filter((file) => /\.c?js$/.test(file))) {
      const text = await readFile(join(dist(), name), 'utf8');
      renamed.push(
        ...[...text.matchAll(/^\W*(?:let \S+ = )?class (\w+\$\w*)/gm)].map(([, renamedClass]) => renamedClass!),
      );
    }

    expect(renamed).toEqual([]);
  });

  it('is one copy for an ES module and the CommonJS libraries that it uses', async () => {
    await writeFile(
      join(project, 'library.cjs'),
      `require('reflect-metadata');
       const { Inject, Module } = require('@nestjs/common');
       const queue = require('nestjs-sql-queue');
       class Orders { constructor(producer) { this.producer = producer; } }
       Inject(queue.QueueProducer)(Orders, undefined, 0);
       class OrdersModule {}
       Module({ providers: [Orders], exports: [Orders] })(OrdersModule);
       module.exports = { Orders, OrdersModule, queue, board: require('nestjs-sql-queue/board') };`,
    );
    const printed = await node(
      'application.mjs',
      `import { Orders, OrdersModule, queue, board } from './library.cjs';
       import * as own from 'nestjs-sql-queue';
       import * as ownBoard from 'nestjs-sql-queue/board';
       import { NestFactory } from '@nestjs/core';
       const imports = [own.SqlQueueModule.forRoot({ connection: { type: 'better-sqlite3', database: ':memory:' }, worker: false }), OrdersModule];
       const app = await NestFactory.createApplicationContext({ module: class {}, imports }, { logger: false, abortOnError: false });
       const { id } = await app.get(Orders, { strict: false }).producer.enqueue('order', 1);
       const error = await app.get(own.QueueProducer).enqueue('', 1).catch((thrown) => thrown);
       const isSame = (one, other) => Object.keys(one).every((name) => one[name] === other[name]);
       console.log([id, error instanceof queue.InvalidOptionsError, isSame(own, queue), isSame(ownBoard, board)].join());
       await app.close();`,
    );

    expect(printed).toBe('1,true,true,true');
  });

  it('runs jobs from a bundle of CommonJS, in which import.meta.url is undefined, and refuses a thread there', async () => {
    const application = join(project, 'bundled.mjs');
    await writeFile(
      application,
      `import 'reflect-metadata';
       import { NestFactory } from '@nestjs/core';
       import { QueueProcessor, QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
       class Handlers { double(job) { return 2 * job.payload; } }
       QueueProcessor('q')(Handlers.prototype, 'double', Object.getOwnPropertyDescriptor(Handlers.prototype, 'double'));
       const start = (database, worker) => {
         const queue = SqlQueueModule.forRoot({ connection: { type: 'better-sqlite3', database }, worker });
         const application = { module: class {}, imports: [queue], providers: [Handlers] };
         return NestFactory.createApplicationContext(application, { logger: false, abortOnError: false });
       };
       async function main() {
         const app = await start(':memory:', {});
         console.log(await app.get(QueueProducer).request('q', 21));
         await app.close();
         await start(process.argv[2], { heartbeat: 'thread' }).catch((error) => console.log(error.message));
       }
       void main();`,
    );
    const bundle = await rollup({
      input: application,
      external: (id) => !/^nestjs-sql-queue$|^[./]/.test(id),
      onwarn: () => undefined,
      plugins: [
        {
          name: 'like other bundlers',
          resolveId: (id) => (id === 'nestjs-sql-queue' ? join(dist(), 'index.js') : null),
          resolveImportMeta: () => 'undefined',
        },
      ],
    });
    await bundle.write({ file: join(project, 'bundled.cjs'), format: 'cjs', inlineDynamicImports: true });
    await bundle.close();

    const { stdout } = await run(process.execPath, [join(project, 'bundled.cjs'), join(folder, 'bundled.sqlite')], {
      cwd: project,
      env: { ...process.env, NODE_OPTIONS: '' },
    });

    expect(stdout).toMatch(/^42\n.*expected for heartbeat 'thread' the file heartbeat-program\.js/);
  });

  it.each(['module', 'commonjs'])('has types for a strict project of type %s', async (type) => {
    const consumer = join(project, type);
    await mkdir(consumer);
    await writeFile(join(consumer, 'package.json'), JSON.stringify({ type }));
    await writeFile(
      join(consumer, 'consumer.ts'),
      `import { QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
       import { SqlQueueBoardModule } from 'nestjs-sql-queue/board';
       import { SqlQueueBullBoardModule } from 'nestjs-sql-queue/bull-board';
       import { OpenTelemetryInstrumentation } from 'nestjs-sql-queue/otel';
       import { SqlQueuePrometheusModule } from 'nestjs-sql-queue/prometheus';
       import { SqlQueueTerminusModule } from 'nestjs-sql-queue/terminus';
       import * as testing from 'nestjs-sql-queue/testing';
       import type { DynamicModule } from '@nestjs/common';
       export const module: DynamicModule = SqlQueueModule.forRoot();
       export const telemetry = new OpenTelemetryInstrumentation({ parent: 'child' });
       export const board: DynamicModule = SqlQueueBoardModule.forRoot({ can: ({ user }, verb) => user === 1 && verb === 'read' });
       class Adapter { setBasePath(path: string) { return this; } setApiRoutes(routes: { route: string }[]) { return this; } }
       export const bullBoard: DynamicModule = SqlQueueBullBoardModule.forRoot({ route: 'admin', adapter: Adapter, middleware: [] });
       export const names: string[] = Object.keys(testing);
       export const modules = [SqlQueuePrometheusModule, SqlQueueTerminusModule.forRoot()];
       // @ts-expect-error the types are not any
       SqlQueueModule.noSuchMethod();
       export const refused = () => [
         // @ts-expect-error the constructor is private to the library
         new QueueProducer({}),
       ];
      `,
    );

    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--module', 'nodenext', '--target', 'es2022'];
    const result = run(process.execPath, [tsc, ...options, '--types', 'node', join(consumer, 'consumer.ts')], {
      cwd: consumer,
    });

    await expect(result).resolves.toMatchObject({ stdout: '' });
  });

  it('runs the example of docs/testing.md in Jest and Nest 11, in a sandbox with CommonJS modules', async () => {
    const application = join(folder, 'jest');
    const installed = 'node_modules/nestjs-sql-queue';
    await cp(join(project, installed), join(application, installed), { recursive: true });
    const nest11 = join(root, 'test/nest11/node_modules');
    for (const name of ['common', 'core', 'testing', 'typeorm']) await linkPeer(`@nestjs/${name}`, application, nest11);
    for (const name of [...(await dependencies()), 'typeorm', 'reflect-metadata', 'rxjs', 'better-sqlite3'])
      await linkPeer(name, application);
    await writeFile(join(application, 'package.json'), '{ "private": true }');
    const [, example] = /```ts\n(.*?)```/s.exec(await readFile(join(root, 'docs/testing.md'), 'utf8'))!;
    const { code } = await transform(example!, {
      swcrc: false,
      jsc: {
        target: 'es2022',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true },
      },
      module: { type: 'commonjs' },
    });
    await writeFile(join(application, 'example.test.js'), code);

    const jest = join(root, 'node_modules/jest/bin/jest.js');
    const { stderr } = await run(process.execPath, [jest, '--rootDir', application], { cwd: application });

    expect(stderr).toContain('Tests:       4 passed, 4 total');
  });

  it('loads the API of OpenTelemetry for its own entry point alone, and names it if it is missing', async () => {
    const loaded = `Object.keys(require.cache).filter((file) => file.includes('opentelemetry')).length`;
    const main = await node('main.cjs', `require('nestjs-sql-queue'); console.log(${loaded});`);
    const entry = (source: string) => `import { OpenTelemetryInstrumentation } from 'nestjs-sql-queue/otel'; ${source}`;
    const create = entry(`new OpenTelemetryInstrumentation(); console.log('created');`);
    const created = await node('created.mjs', create);
    const link = join(project, 'node_modules/@opentelemetry/api');
    await rm(link);
    const rejected = node('missing.mjs', create);
    const message = await rejected.catch((error: unknown) => String(error));
    await symlink(join(root, 'node_modules/@opentelemetry/api'), link, 'dir');

    expect([main, created]).toEqual(['0', 'created']);
    expect(message).toContain('npm install @opentelemetry/api');
  });

  it('loads all entry points without the peers of the extra ones, and names a missing peer', async () => {
    for (const name of OPTIONAL_PEERS) await rm(join(project, 'node_modules', name));

    const imports = ENTRIES.map((entry) => `await import('${entry}');`).join(' ');
    const loaded = await node('without-peers.mjs', `${imports} console.log('loaded');`);
    const missing = await node(
      'missing-peer.mjs',
      `import 'reflect-metadata';
       import { NestFactory } from '@nestjs/core';
       import { SqlQueueTerminusModule } from 'nestjs-sql-queue/terminus';
       const options = { logger: false, abortOnError: false };
       await NestFactory.createApplicationContext(SqlQueueTerminusModule.forRoot(), options).catch(({ message }) => console.log(message));
      `,
    );
    const missingBullBoard = await node(
      'missing-bull-board.mjs',
      `import 'reflect-metadata';
       import { NestFactory } from '@nestjs/core';
       import { SqlQueueModule } from 'nestjs-sql-queue';
       import { SqlQueueBullBoardModule } from 'nestjs-sql-queue/bull-board';
       class Adapter { setBasePath() {} setApiRoutes() {} }
       const imports = [
         SqlQueueModule.forRoot({ connection: { type: 'better-sqlite3', database: ':memory:' } }),
         SqlQueueBullBoardModule.forRoot({ route: 'admin', adapter: Adapter, middleware: [] }),
       ];
       const options = { logger: false, abortOnError: false };
       await NestFactory.createApplicationContext({ module: class {}, imports }, options).catch(({ message }) => console.log(message));
      `,
    );
    const main = join(dist(), 'cli.js');
    const file = join(project, 'empty.sqlite');
    const env = { ...process.env, NODE_OPTIONS: '', SQL_QUEUE_URL: `sqlite:${file}` };
    await run(process.execPath, [main, 'migrate'], { env });
    const command = run(process.execPath, [main, 'metrics'], { env });

    await expect(command).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('npm install prom-client') as string,
    });
    expect(loaded).toBe('loaded');
    expect(missing).toContain('npm install @nestjs/terminus');
    expect(missingBullBoard).toContain('npm install @bull-board/api @bull-board/ui');
    for (const name of OPTIONAL_PEERS) await linkPeer(name);
  });

  it('serves the board from both formats', async () => {
    await linkPeer('@nestjs/platform-express');
    const body = `
      const app = await NestFactory.create(
        {
          module: class {},
          imports: [
            SqlQueueModule.forRoot({ connection: { type: 'better-sqlite3', database: ':memory:' } }),
            SqlQueueBoardModule.forRoot({ can: () => true }),
          ],
        },
        { logger: false },
      );
      await app.listen(0, '127.0.0.1');
      const url = (await app.getUrl()) + '/queues';
      const page = await fetch(url);
      const statuses = await Promise.all(
        ['/board.js', '/board.css', '/api/queues'].map((path) => fetch(url + path).then(({ status }) => status)),
      );
      console.log([page.status, ...statuses].join());
      await app.close();
    `;
    const names = [
      ['{ NestFactory }', '@nestjs/core'],
      ['{ SqlQueueModule }', 'nestjs-sql-queue'],
      ['{ SqlQueueBoardModule }', 'nestjs-sql-queue/board'],
    ];
    const imports = names.map(([name, from]) => `import ${name} from '${from}';`).join('\n');
    const requires = names.map(([name, from]) => `const ${name} = require('${from}');`).join('\n');

    const fromModule = await node('board.mjs', `import 'reflect-metadata';\n${imports}\n${body}`);
    const fromCommonJs = await node(
      'board.cjs',
      `require('reflect-metadata');\n${requires}\n(async () => {${body}})();`,
    );

    expect([fromModule, fromCommonJs]).toEqual(['200,200,200,200', '200,200,200,200']);
  });

  it('imports only declared dependencies', async () => {
    const { dependencies, peerDependencies } = JSON.parse(
      await readFile(join(project, 'node_modules/nestjs-sql-queue/package.json'), 'utf8'),
    ) as Record<'dependencies' | 'peerDependencies', Record<string, string>>;
    const declared = new Set(['nestjs-sql-queue', ...Object.keys(dependencies), ...Object.keys(peerDependencies)]);

    // The schematics contain the text of files that import packages of a project.
    const isChecked = (name: string) => /\.(c?js|d\.c?ts)$/.test(name) && name !== 'schematics.cjs';
    const files = (await readdir(dist())).filter(isChecked);
    const imported = new Set<string>();
    for (const file of files) {
      const text = await readFile(join(dist(), file), 'utf8');
      const statements =
        /\bfrom '([^'.][^']*)';$|^import '([^'.][^']*)';$|\bimport\('([^'.][^']*)'\)|(?<!\.)\brequire\('([^'.][^']*)'\)/gm;
      for (const [, ...specifiers] of text.matchAll(statements)) imported.add(packageOf(specifiers.find(Boolean)!));
    }

    expect([...imported].filter((name) => !name.startsWith('node:') && !declared.has(name))).toEqual([]);
  });

  it('contains every file that its documents link to, except for pictures', async () => {
    const home = join(project, 'node_modules/nestjs-sql-queue');
    const documents = (await readdir(home, { recursive: true })).filter((name) => name.endsWith('.md'));
    const missing: string[] = [];
    for (const document of documents) {
      const text = await readFile(join(home, document), 'utf8');
      for (const [, target] of text.matchAll(/(?<!!\[[^\]]*)\]\((?!https:|#)([^)#\s]+)[^)]*\)/g)) {
        if (!existsSync(resolve(home, dirname(document), target!))) missing.push(`${document}: ${target}`);
      }
    }

    expect(documents).toContain('README.md');
    expect(missing).toEqual([]);
  });

  const dist = () => join(project, 'node_modules/nestjs-sql-queue/dist');

  function packageOf(specifier: string): string {
    const [scope, name] = specifier.split('/');
    return scope!.startsWith('@') ? `${scope}/${name}` : scope!;
  }

  /** The files of the package and the other packages that a file loads before its first statement. */
  async function loadedBy(file: string) {
    const files = new Set([file]);
    const packages = new Set<string>();
    for (const loaded of files) {
      const text = await readFile(join(dist(), loaded), 'utf8');
      const statements =
        /^(?:import|export)\b[^'\n]*'([^'\n]+)';$|^(?:var|const) \w+ = require\('([^']+)'\);$|^require\('([^']+)'\);$/gm;
      for (const [, from, required, bare] of text.matchAll(statements)) {
        const specifier = (from ?? required ?? bare)!;
        if (specifier.startsWith('./')) files.add(specifier.slice(2));
        else packages.add(packageOf(specifier));
      }
    }
    return { files: [...files], packages: [...packages].sort() };
  }

  async function installPackage() {
    // A program of its own, because the scripts have no types.
    const script = `import { pack } from './scripts/pack.mjs'; console.log(await pack(process.argv[1]));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script, folder], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const target = join(project, 'node_modules/nestjs-sql-queue');
    await mkdir(target, { recursive: true });
    await run('tar', ['-xzf', stdout.trim(), '--strip-components=1', '-C', target]);
  }

  /** Links everything but the package itself. The dependencies of a peer are found at the target of its link. */
  async function installPeers() {
    const { peerDependencies } = await manifest();
    for (const name of [...(await dependencies()), ...Object.keys(peerDependencies), '@types/node']) {
      await linkPeer(name);
    }
  }

  async function dependencies(): Promise<string[]> {
    return Object.keys((await manifest()).dependencies);
  }

  async function manifest() {
    const text = await readFile(join(root, 'package.json'), 'utf8');
    return JSON.parse(text) as Record<'dependencies' | 'peerDependencies', Record<string, string>>;
  }

  async function linkPeer(name: string, into = project, from = join(root, 'node_modules')) {
    const link = join(into, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(from, name), link, 'dir');
  }

  async function node(name: string, source: string, ...flags: string[]): Promise<string> {
    const file = join(project, name);
    await writeFile(file, source);
    const { stdout } = await run(process.execPath, [...flags, file], { env: { ...process.env, NODE_OPTIONS: '' } });
    return stdout.trim();
  }
});
