// Writes the documentation as plain text: llms.txt lists the pages, llms-full.txt has them all in one file, and each page
// of docs/ is beside its HTML.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pageOf, REPOSITORY } from './places.mjs';
import { read, readOutline, readSummary } from './sources.mjs';

/** @param {string} address of the site, or its base path */
export async function writeTextsForModels(outDir, address) {
  const outline = readOutline().map(({ title, entries }) => ({
    title,
    pages: entries
      // Pages that the package leaves out are linked by their address in the repository.
      .map((entry) => ({ ...entry, href: entry.href.replace(`${REPOSITORY}/blob/main/docs/`, '') }))
      .filter(({ href }) => href.endsWith('.md') && !href.includes('://'))
      .map((entry) => ({ ...entry, file: `docs/${entry.href}` })),
  }));
  const readme = read('README.md');

  const sections = outline.map(({ title, pages }) =>
    [`## ${title}`, '', ...pages.map((page) => `- [${page.title}](${address}${page.href}): ${page.text}`)].join('\n'),
  );
  const overview = `- [Overview](${address}overview.md): install, an example, guarantees, comparison`;
  await writeFile(
    join(outDir, 'llms.txt'),
    [
      '# nestjs-sql-queue',
      `> ${readSummary()}`,
      `All pages in one file: ${address}llms-full.txt`,
      `## Overview\n\n${overview}`,
      ...sections,
    ].join('\n\n') + '\n',
  );

  const files = outline.flatMap(({ pages }) => pages.map(({ file }) => file));
  await writeFile(join(outDir, 'llms-full.txt'), [readme, ...files.map(read)].map(withoutComments).join('\n\n'));

  await writeFile(join(outDir, pageOf('README.md')), readme);
  for (const file of files) {
    const target = join(outDir, file.replace(/^docs\//, ''));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, read(file));
  }
}

function withoutComments(text) {
  return text.replaceAll(/<!--[^]*?-->\n*/g, '').trim();
}
