import { posix } from 'node:path';
import { isName, NAME_EXPECTED } from '../../job/identifiers.js';
import { withEntry } from './edit-module.js';
import { importExtension } from './manifest.js';
import { textOf, write, type Directory, type Rule, type SchematicLogger, type Tree } from './tree.js';

export interface ProcessorOptions {
  readonly name: string;
  readonly path?: string;
  readonly sourceRoot?: string;
  readonly flat?: boolean;
  readonly spec?: boolean;
  readonly specFileSuffix?: string;
  readonly skipImport?: boolean;
}

/** `nest g -c nestjs-sql-queue processor <name>`: a processor, its test, and its place in the nearest module. */
export function processor(options: ProcessorOptions): Rule {
  return (tree, { logger }) => {
    const queue = queueName(posix.basename(options.name));
    const name = queue.replaceAll(/[._:-]+/g, '-');
    const className = `${pascalCase(name)}Processor`;
    const parent = posix.join('/', options.sourceRoot ?? 'src', options.path ?? '', posix.dirname(options.name));
    const folder = options.flat ? parent : posix.join(parent, name);
    const extension = importExtension(tree);
    const module = nearestModule(tree.getDir(folder));

    const file = posix.join(folder, `${name}.processor`);
    tree.create(`${file}.ts`, sourceOf(className, queue));
    if (options.spec !== false)
      tree.create(
        `${file}.${options.specFileSuffix || 'spec'}.ts`,
        testOf(className, `./${name}.processor${extension}`),
      );
    if (!options.skipImport) provide(tree, className, { module, file: `${file}${extension}`, logger });
  };
}

function provide(
  tree: Tree,
  className: string,
  { module, file, logger }: { module: string | undefined; file: string; logger: SchematicLogger },
): void {
  const path = module === undefined ? '' : posix.relative(posix.dirname(module), file);
  const from = path.startsWith('.') ? path : `./${path}`;
  const added = { property: 'providers', expression: className, name: className, from } as const;
  const edited = module && withEntry(textOf(tree, module), added);
  if (module && edited) write(tree, module, edited);
  else logger.warn(`No module has a list of providers: add ${className} to the providers of a module.`);
}

/** The queue that a processor is named after: `welcome-mail` for `welcomeMail`. */
function queueName(name: string): string {
  const queue = name.replaceAll(/([a-z\d])([A-Z])/g, '$1-$2').toLowerCase();
  if (!isName(queue) || !/^[a-z]/.test(queue))
    throw new Error(`expected a queue name of ${NAME_EXPECTED}, with a letter first, got "${name}"`);
  return queue;
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|-)(\w?)/g, (_, letter: string) => letter.toUpperCase());
}

/** The module in the folder, or in the nearest folder above it. */
function nearestModule(folder: Directory): string | undefined {
  for (let directory: Directory | null = folder; directory; directory = directory.parent) {
    const name = directory.subfiles.find((file) => file.endsWith('.module.ts'));
    if (name !== undefined) return posix.join(directory.path, name);
  }
  return undefined;
}

function sourceOf(className: string, queue: string): string {
  const payload = className.replace(/Processor$/, 'Payload');
  return `import { Injectable, Logger } from '@nestjs/common';
import { JobContext, QueueProcessor } from 'nestjs-sql-queue';

export interface ${payload} {
  id: number;
}

@Injectable()
export class ${className} {
  private readonly logger = new Logger(${className}.name);

  @QueueProcessor('${queue}')
  process(job: JobContext<${payload}>): void {
    this.logger.log(\`Job \${job.id}: \${JSON.stringify(job.payload)}\`);
  }
}
`;
}

function testOf(className: string, path: string): string {
  return `import { Test, TestingModule } from '@nestjs/testing';
import { createJobContext } from 'nestjs-sql-queue/testing';
import { ${className} } from '${path}';

describe('${className}', () => {
  let processor: ${className};

  beforeEach(async () => {
    const module: TestingModule = await Test.createTestingModule({
      providers: [${className}],
    }).compile();

    processor = module.get<${className}>(${className});
  });

  it('should process a job', () => {
    const job = createJobContext({ id: 1 });

    expect(() => processor.process(job)).not.toThrow();
  });
});
`;
}
