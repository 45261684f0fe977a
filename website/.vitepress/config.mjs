import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { writeTextsForModels } from '../source/llms.mjs';
import { anchorOf, NO_PAGES, pageOf, REPOSITORY, root } from '../source/places.mjs';
import { rewriteMarkdown } from '../source/markdown.mjs';
import { apiSidebar, decisionSidebar, guideSidebar } from '../source/sidebars.mjs';
import { read } from '../source/sources.mjs';

const { version, description } = JSON.parse(read('package.json'));
// The address of the published site, such as https://example.org/docs/. It decides the base path and the site map.
const address = process.env.DOCS_URL ? new URL(process.env.DOCS_URL) : undefined;
const base = address ? address.pathname.replace(/\/?$/, '/') : '/';
const guide = guideSidebar();

export default defineConfig({
  srcDir: root,
  srcExclude: NO_PAGES,
  outDir: process.env.DOCS_OUT ?? join(import.meta.dirname, 'dist'),
  rewrites: pageOf,
  base,
  ...(address && { sitemap: { hostname: address.href } }),

  lang: 'en',
  title: 'nestjs-sql-queue',
  description,
  cleanUrls: true,
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}logo.svg` }],
    ['meta', { name: 'theme-color', content: '#c2410c' }],
    ['meta', { property: 'og:type', content: 'website' }],
    ['meta', { property: 'og:site_name', content: 'nestjs-sql-queue' }],
  ],
  transformHead: ({ title, description }) => [
    ['meta', { property: 'og:title', content: title }],
    ['meta', { property: 'og:description', content: description }],
  ],
  transformPageData(page) {
    const described = guide.descriptions.get(`/${page.relativePath.replace(/(^|\/)index\.md$/, '$1')}`);
    if (described) page.description = `${described[0].toUpperCase()}${described.slice(1)}.`;
  },

  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: anchorOf },
    config: rewriteMarkdown,
  },
  vite: {
    publicDir: join(root, 'website/public'),
    plugins: [vueOfWebsite()],
    // An image of a page is a file of its own, so that the policy of a server need not permit data: addresses.
    build: { assetsInlineLimit: 0, chunkSizeWarningLimit: 4000 },
  },
  buildEnd: ({ outDir }) => writeTextsForModels(outDir, address?.href ?? base),

  themeConfig: {
    logo: '/logo.svg',
    search: {
      provider: 'local',
      options: {
        miniSearch: { searchOptions: { boostDocument: weightOf } },
        // A label contains all text of its button, also the key, and the space between both.
        translations: { button: { buttonText: 'Search ', buttonAriaLabel: 'Search K' } },
      },
    },
    outline: { level: [2, 3], label: 'On this page' },
    nav: [
      { text: 'Guide', link: '/getting-started', activeMatch: '^/(?!api|errors|benchmarks|reliability|decisions|$)' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      { text: 'Errors', link: '/errors/', activeMatch: '^/errors/' },
      { text: 'Benchmarks', link: '/benchmarks' },
      { text: 'Reliability', link: '/reliability' },
      {
        text: version,
        items: [
          { text: 'Changes', link: '/changelog' },
          { text: 'Samples', link: '/samples' },
          { text: 'Contributing', link: '/contributing' },
          { text: 'Decisions', link: '/decisions/' },
        ],
      },
    ],
    sidebar: {
      '/': guide.groups,
      '/errors/': guide.groupsWithErrors,
      '/decisions/': decisionSidebar(),
      '/api/': apiSidebar(),
    },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    notFound: { linkText: 'Take me home', linkLabel: 'Take me home' },
    docFooter: { prev: 'Previous', next: 'Next' },
    footer: { message: 'MIT License' },
    externalLinkIcon: true,
  },
});

/** Guides come before the reference, and the reference before reasons and history. */
function weightOf(id) {
  if (/\/(decisions|changelog|architecture|contributing|bench)\b/.test(id)) return 0.4;
  return id.includes('/api/') ? 0.6 : 1;
}

/** Pages outside of website/ import Vue, and the root of the repository has none. */
function vueOfWebsite() {
  return {
    name: 'vue-of-website',
    enforce: 'pre',
    resolveId: (id, _importer, { ssr }) => (ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : undefined),
  };
}
