import { mkdir } from 'node:fs/promises';
import { Project, TEMPLATES } from './project.js';

const projects: Project[] = [];

// Before Node 24.9, Jest cannot load Nest 12 from CommonJS: the test that `nest new` writes fails, too.
const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
const JEST_REQUIRES_ES_MODULES = major > 24 || (major === 24 && minor >= 9);

// A slow machine needs minutes for the packages of a project.
const INSTALL_TIMEOUT = 1_200_000;

afterAll(async () => {
  for (const project of projects) await project.remove();
});

async function create(template: keyof typeof TEMPLATES): Promise<Project> {
  const project = await Project.create(template);
  projects.push(project);
  return project;
}

const add = (project: Project) => project.nest('add', 'nestjs-sql-queue', '--skip-install');
const generate = (project: Project, ...args: string[]) =>
  project.nest('g', '-c', 'nestjs-sql-queue', 'processor', ...args);

/** A program that waits until the first job of the generated processor has completed. */
const firstJob = (extension: string) => `
  import { NestFactory } from '@nestjs/core';
  import { QueueProducer } from 'nestjs-sql-queue';
  import { AppModule } from './app.module${extension}';

  async function main() {
    const app = await NestFactory.createApplicationContext(AppModule);
    await app.get(QueueProducer).request('mail', { id: 17 });
    await app.close();
  }
  void main();`;

describe.each(Object.keys(TEMPLATES) as (keyof typeof TEMPLATES)[])('in a new project of %s', (template) => {
  let project: Project;

  beforeAll(async () => {
    project = await create(template);
    await add(project);
    await generate(project, 'mail');
  }, INSTALL_TIMEOUT);

  it('nest add registers the module, the shutdown hooks, TypeORM and a driver', async () => {
    const { dependencies } = JSON.parse(await project.read('package.json')) as { dependencies: object };

    expect(await project.read('src/app.module.ts')).toContain('imports: [SqlQueueModule.forRoot()]');
    expect(await project.read('src/main.ts')).toMatch(
      / = await NestFactory\.create\(.*\n {2}app\.enableShutdownHooks\(\);/,
    );
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(['better-sqlite3', 'typeorm']));
  });

  it('nest g provides the processor in the root module', async () => {
    const module = await project.read('src/app.module.ts');

    expect(module).toContain(`import { MailProcessor } from './mail/mail.processor${project.extension}';`);
    expect(module).toContain('providers: [AppService, MailProcessor]');
  });

  it('the changed project passes its linter', async () => {
    const { code, text } = await project.lint();

    expect(code, text).toBe(0);
    expect(text).not.toContain('mail');
  });

  if (template !== 'Nest 12 as CommonJS' || JEST_REQUIRES_ES_MODULES) {
    it('the generated test passes', async () => {
      const { code, text } = await project.test();

      expect(code, text).toBe(0);
      expect(text).toContain('mail/mail.processor.spec.ts');
    });
  }

  it('the changed project compiles, starts and runs a first job', async () => {
    await project.write('src/first-job.ts', firstJob(project.extension));

    const build = await project.nest('build');
    const { code, text } = await project.node('dist/first-job.js');

    expect(build.code, build.text).toBe(0);
    expect(code, text).toBe(0);
    expect(text).toContain('{"id":17}');
  });

  it('a second nest add changes nothing', async () => {
    const { text } = await add(project);

    expect(text).toContain('/src/app.module.ts registers SqlQueueModule already.');
    expect(text).toContain('Nothing to be done.');
  });
});

describe('nest g -c nestjs-sql-queue processor', () => {
  let project: Project;

  beforeAll(async () => {
    project = await create('Nest 12 as ES modules');
  }, INSTALL_TIMEOUT);

  it('refuses a name that no queue may have', async () => {
    const { text } = await generate(project, 'ma!l');

    expect(text).toContain(
      'expected a queue name of 1 to 100 of the characters A-Z a-z 0-9 . _ : -, with a letter first',
    );
    expect(text).toContain('got "ma!l"');
    expect(project.has('src/ma!l')).toBe(false);
  });

  it('refuses to overwrite a processor', async () => {
    await generate(project, 'twice');
    await project.write('src/twice/twice.processor.ts', '// changed');

    const { text } = await generate(project, 'twice');

    expect(text).toContain('already exist');
    expect(await project.read('src/twice/twice.processor.ts')).toBe('// changed');
  });

  it('keeps the dots in the name of a queue', async () => {
    await generate(project, 'email.welcome');

    const source = await project.read('src/email-welcome/email-welcome.processor.ts');
    expect(source).toContain(`@QueueProcessor('email.welcome')`);
    expect(source).toContain('export class EmailWelcomeProcessor {');
  });

  it('provides a processor in the nearest module above its folder', async () => {
    await project.nest('g', 'module', 'orders');

    await generate(project, 'orders/receipt', '--flat', '--no-spec');

    const module = await project.read('src/orders/orders.module.ts');
    expect(module).toContain(`import { ReceiptProcessor } from './receipt.processor.js';`);
    expect(module).toContain('providers: [ReceiptProcessor]');
    expect(await project.read('src/app.module.ts')).not.toContain('ReceiptProcessor');
    expect(project.has('src/orders/receipt.processor.spec.ts')).toBe(false);
  });

  it('writes a processor, and warns, if the module has no list of providers', async () => {
    await mkdir(project.path('src/bills'));
    await project.write('src/bills/bills.module.ts', `@Module({ providers: own() })\nexport class BillsModule {}\n`);

    const { text } = await generate(project, 'bills/bill');

    expect(text).toContain('add BillProcessor to the providers of a module');
    expect(project.has('src/bills/bill/bill.processor.ts')).toBe(true);
    expect(await project.read('src/bills/bills.module.ts')).not.toContain('BillProcessor');
  });
});

describe('nest add nestjs-sql-queue', () => {
  it('installs TypeORM and a driver', async () => {
    const project = await create('Nest 12 as ES modules');
    await project.write('package.json', JSON.stringify({ name: 'app', version: '1.0.0', type: 'module' }));

    // npm resolves the packages, and installs none.
    const { code, text } = await project.schematic('nest-add', { npm_config_dry_run: 'true' });

    expect(code, text).toBe(0);
    expect(text).toMatch(/add typeorm 1\./);
    expect(text).toContain('Packages installed successfully.');
  });

  it('adds no driver to a project that has one', async () => {
    const project = await create('Nest 12 as ES modules');
    const manifest = { name: 'app', dependencies: { mysql2: '^3.0.0', typeorm: '^1.0.0' } };
    await project.write('package.json', JSON.stringify(manifest));

    await project.schematic('nest-add');

    expect(JSON.parse(await project.read('package.json'))).toEqual(manifest);
  });

  it('leaves a registration with options as it is', async () => {
    const project = await create('Nest 12 as ES modules');
    const module = 'export const queue = SqlQueueModule.forRootAsync({ useFactory: () => ({}) });\n';
    await project.write('src/queue.ts', module);

    const { text } = await add(project);

    expect(text).toContain('/src/queue.ts registers SqlQueueModule already.');
    expect(await project.read('src/app.module.ts')).not.toContain('SqlQueueModule');
  });
});
