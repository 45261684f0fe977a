import { createRequire } from 'node:module';
import { join } from 'node:path';

interface NestSchematics {
  MetadataManager: new (source: string) => {
    /** The changed source; undefined if it has no decorator `@Module({ … })`. */
    insert(property: string, expression: string): string | undefined;
  };
}

interface Entry {
  readonly property: 'imports' | 'providers';
  readonly expression: string;
  /** The name in the expression, and the module that exports it. */
  readonly name: string;
  readonly from: string;
}

/**
 * Adds an entry to a list of `@Module()`, and its import. Returns the same source if the list has the entry already, and
 * undefined if the property is no list.
 */
export function withEntry(source: string, { property, expression, name, from }: Entry): string | undefined {
  const { MetadataManager } = nestSchematics();
  const edited = new MetadataManager(source).insert(property, expression);
  if (edited === source) return lists(source, expression) ? source : undefined;
  return edited && withImport(edited, `import { ${name} } from '${from}';`);
}

/** The package of the project, which a project of the Nest CLI has; else the package of the CLI, which runs this program. */
function nestSchematics(): NestSchematics {
  for (const place of [join(process.cwd(), 'package.json'), process.argv[1]!]) {
    const require = createRequire(place);
    try {
      return require('@nestjs/schematics') as NestSchematics;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new Error('expected the package @nestjs/schematics in the project: npm install --save-dev @nestjs/schematics');
}

/** Adds the line after the last import. */
function withImport(source: string, line: string): string {
  const last = [...source.matchAll(/^(?:import\b.*|\}) from ['"].*['"];?$/gm)].at(-1);
  if (!last) return `${line}\n${source}`;
  const end = last.index + last[0].length;
  return `${source.slice(0, end)}\n${line}${source.slice(end)}`;
}

function lists(source: string, expression: string): boolean {
  const text = source.slice(source.indexOf('@Module'));
  return text.split(/[[\],\s]+/).includes(expression);
}
