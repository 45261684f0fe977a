// The pages of the error codes: one for each row of docs/errors.md.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { read, readErrors, readOutline } from './sources.mjs';
import { pageOf, root } from './places.mjs';

/** @returns {{ params: { code: string, className: string }, content: string }[]} */
export function errorPages() {
  const guides = readOutline()
    .flatMap(({ entries }) => entries)
    .filter(({ href }) => href.endsWith('.md') && href !== 'errors.md' && existsSync(join(root, 'docs', href)))
    .map(({ title, href }) => ({ title, page: `/${pageOf(`docs/${href}`)}`, text: read(`docs/${href}`) }));

  return readErrors().map(({ code, className, when }) => {
    const names = new RegExp(`\\b(?:${code}|${className})\\b`);
    const mentions = guides.filter(({ text }) => names.test(text));
    const api = `nestjs-sql-queue/classes/${className}.md`;
    const content = [
      `# ${code}`,
      // Links of the table start at the folder docs.
      `${sentenceOf(when.replaceAll(/\]\((?!https?:|#)/g, '](/'))}`,
      `| class | fields |\n| --- | --- |\n| [${className}](/api/${api}) | \`code\` is \`'${code}'\`${fieldsOf(api)} |`,
      mentions.length > 0 && '## Pages that name it',
      mentions.map(({ title, page }) => `- [${title}](${page})`).join('\n'),
      '[All errors](/errors/)',
    ];
    return { params: { code, className }, content: content.filter(Boolean).join('\n\n') };
  });
}

function sentenceOf(text) {
  const sentence = text.endsWith('.') ? text : `${text}.`;
  return /^[`[]/.test(sentence) ? sentence : sentence[0].toUpperCase() + sentence.slice(1);
}

/** The fields of its own, as the API reference lists them. */
function fieldsOf(api) {
  const [, properties = ''] = read(`website/api/${api}`).split(/^## Properties$/m);
  const names = [...properties.matchAll(/^### (\w+)\??$/gm)].map(([, name]) => name).filter((name) => name !== 'code');
  return names.map((name) => `, \`${name}\``).join('');
}
