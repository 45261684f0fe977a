// Writes the API reference into website/api: a page for each exported name, from the doc comments of lib.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Application, Comment, CommentTag, Converter, ReflectionKind } from 'typedoc';
import { ENTRY_POINTS } from '../../scripts/bundle/entry-points.mjs';
import { REPOSITORY, root } from './places.mjs';

const ERROR = 'SqlQueueError';
const output = join(root, 'website/api');

const app = await Application.bootstrapWithPlugins({
  plugin: ['typedoc-plugin-markdown', 'typedoc-vitepress-theme'],
  tsconfig: join(root, 'website/tsconfig.json'),
  entryPoints: Object.values(ENTRY_POINTS).map((file) => join(root, 'lib', file)),
  name: 'API',
  readme: 'none',
  entryFileName: 'index',
  out: output,
  docsRoot: join(root, 'website'),
  // `npm run check` has compiled lib already.
  skipErrorChecking: true,
  excludeExternals: true,
  excludeInternal: true,
  excludePrivate: true,
  disableGit: true,
  sourceLinkTemplate: `${REPOSITORY}/blob/main/lib/{path}#L{line}`,
  hideBreadcrumbs: true,
  hidePageHeader: true,
  parametersFormat: 'table',
  propertyMembersFormat: 'table',
  groupOrder: ['Classes', 'Functions', 'Interfaces', 'Type Aliases', 'Variables', 'Errors'],
  logLevel: 'Error',
});

app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_context, reflection) => {
  if (reflection.kindOf(ReflectionKind.Module)) reflection.name = publicNameOf(reflection.name);
});
app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
  for (const reflection of project.getReflectionsByKind(ReflectionKind.Class)) {
    const isError = reflection.name === ERROR || reflection.extendedTypes?.some((type) => type.name === ERROR);
    if (!isError) continue;
    reflection.comment ??= new Comment();
    reflection.comment.blockTags.push(new CommentTag('@group', [{ kind: 'text', text: 'Errors' }]));
  }
});
// One link to the source on each page.
app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
  for (const reflection of Object.values(project.reflections)) {
    if (reflection.parent?.kindOf(ReflectionKind.Module)) continue;
    delete reflection.sources;
    reflection.signatures?.forEach((signature) => delete signature.sources);
  }
});

await rm(output, { recursive: true, force: true });
const project = await app.convert();
if (!project) throw new Error('TypeDoc could not read lib');
await app.generateOutputs(project);

/** TypeDoc names an entry point after its file; users import it by the name of the package. */
function publicNameOf(path) {
  const entry = Object.entries(ENTRY_POINTS).find(([, file]) => file.replace(/(\/index)?\.ts$/, '') === path);
  if (!entry) throw new Error(`expected the path of an entry point, got "${path}"`);
  return entry[0] === 'index' ? 'nestjs-sql-queue' : `nestjs-sql-queue/${entry[0]}`;
}
