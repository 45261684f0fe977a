import { join } from 'node:path';
import { createMarkdownRenderer } from 'vitepress';
import { landing } from '../source/landing.mjs';
import { root } from '../source/places.mjs';

const { site, srcDir, markdown } = globalThis.VITEPRESS_CONFIG;

export default {
  watch: ['README.md', 'docs/README.md', 'docs/benchmarks.md', 'docs/reliability.md'].map((file) => join(root, file)),
  async load() {
    // Without the rewriting of links, which needs a file.
    const { config: _config, ...options } = markdown;
    const renderer = await createMarkdownRenderer(srcDir, options, site.base);
    return landing((source) => renderer.render(source));
  },
};
