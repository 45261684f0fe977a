// Follows every link of the built site in Chromium, and looks for everything that a reader must not meet.
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { pageOf, REPOSITORY } from '../../website/source/places.mjs';
import { readErrors, readOutline } from '../../website/source/sources.mjs';
import { findChromium } from '../browser/chromium.mjs';
import { serveSite } from './site-server.mjs';

const root = resolve(import.meta.dirname, '../..');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Below a path, because that is where links that forget the base path break. */
export const ADDRESS = 'http://localhost/nestjs-sql-queue/';
const BASE = new URL(ADDRESS).pathname;
const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 900 };

const MISSING = 'no-such-page';

/** One page of each kind, which is examined as a whole in both themes. */
const KINDS = [
  ['', 'getting-started', 'configuration', 'benchmarks', 'errors/', 'errors/QUEUE_FULL', 'decisions/'],
  ['decisions/0008-notifications', 'api/', 'api/nestjs-sql-queue/classes/QueueProducer', MISSING],
].flat();

/** Many pages of one form. A click leads to them, which is cheaper than a load, and their colors are those of KINDS. */
const UNIFORM = /^(api|decisions|errors)\/./;

/** A word, and the guide that explains it. */
const SEARCH = { word: 'debounce', page: 'keys' };

/** @returns {Promise<string[]>} The problems of a built site. */
export async function checkSite(folder) {
  const site = await serveSite(folder, BASE);
  const browser = await chromium.launch({
    executablePath: await findChromium(),
    // Root has no sandbox, and the browser shows only the pages of this repository.
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const check = new SiteCheck(site.origin, browser);
    await check.crawl();
    await check.examineKinds();
    await check.search();
    await check.checkTexts();
    check.checkLinks(await filesIn(folder));
    check.checkOrder();
    return check.problems;
  } finally {
    await browser.close();
    await site.close();
  }
}

class SiteCheck {
  /** @type {string[]} */
  problems = [];
  /** What each page has, by its path. @type {Map<string, PageContent>} */
  pages = new Map();
  #home;
  #browser;

  constructor(origin, browser) {
    this.#home = origin + BASE;
    this.#browser = browser;
  }

  /** Opens every page that a link leads to, on the screen of a phone. */
  async crawl() {
    const began = performance.now();
    const found = new Set([this.#home]);
    const open = [this.#home];
    const work = async () => {
      const page = await this.#open({ viewport: PHONE });
      for (let url = open.pop(); url !== undefined || this.#isBusy(found); url = open.pop()) {
        if (url === undefined) {
          await this.#nextPage();
          continue;
        }
        const content = await this.#visit(page, url);
        for (const { href } of content.links) {
          const [target] = href.split('#');
          if (!target.startsWith(this.#home) || found.has(target)) continue;
          found.add(target);
          open.push(target);
        }
        this.pages.set(pathOf(url, this.#home), content);
        this.#announce();
      }
      await page.context().close();
    };
    await Promise.all(Array.from({ length: availableParallelism() }, work));
    console.log(`${this.pages.size} pages, ${seconds(began)} s`);
  }

  #isBusy(found) {
    return this.pages.size < found.size;
  }

  #waiting = [];

  #nextPage() {
    return new Promise((next) => this.#waiting.push(next));
  }

  #announce() {
    this.#waiting.splice(0).forEach((next) => next());
  }

  async #visit(page, url) {
    const path = pathOf(url, this.#home);
    const isUniform = UNIFORM.test(path);
    const isOpen = await (isUniform ? this.#click(page, url) : this.#load(page, url)).then(
      () => true,
      (error) => void this.problems.push(`/${path}: does not open: ${error.message.split('\n')[0]}`),
    );
    if (!isOpen) return { links: [], ids: [], imports: 0 };

    const content = await page.evaluate(readPage);
    this.#report(`/${path}`, content);
    this.problems.push(...(await seriousProblems(page, 'main', !isUniform)).map((each) => `/${path}: ${each}`));
    return content;
  }

  async #load(page, url) {
    const response = await page.goto(url);
    if (response.status() !== 200 && !url.endsWith(MISSING)) throw new Error(`status ${response.status()}`);
    await page.waitForFunction(`document.querySelector('#app')?.__vue_app__`);
  }

  async #click(page, url) {
    if (!page.url().startsWith(this.#home)) await this.#load(page, this.#home);
    await page.evaluate((href) => {
      const link = document.body.appendChild(document.createElement('a'));
      link.href = href;
      link.click();
      link.remove();
    }, url);
    // The theme names the content after its page.
    const name = new URL(url).pathname.replaceAll(/[./]+/g, '_');
    await page.waitForFunction((each) => document.getElementsByClassName(each).length > 0, name);
  }

  #report(name, { tooWide, brokenImages, titles }) {
    for (const width of tooWide) this.problems.push(`${name}: scrolls horizontally: ${width}`);
    for (const image of brokenImages) this.problems.push(`${name}: broken image ${image}`);
    if (titles !== 1) this.problems.push(`${name}: ${titles} headings of level 1`);
  }

  async examineKinds() {
    const began = performance.now();
    const examine = async (colorScheme) => {
      const page = await this.#open({ colorScheme, viewport: DESKTOP });
      for (const path of KINDS) {
        const name = `/${path} (${colorScheme}, ${DESKTOP.width} px)`;
        await this.#load(page, this.#home + path);
        const isDark = await page.evaluate(`document.documentElement.classList.contains('dark')`);
        if (isDark !== (colorScheme === 'dark')) this.problems.push(`${name}: has the other theme`);
        this.#report(name, await page.evaluate(readPage));
        this.problems.push(...(await seriousProblems(page)).map((each) => `${name}: ${each}`));
      }
      await page.context().close();
    };
    await Promise.all([examine('light'), examine('dark')]);
    console.log(`${KINDS.length} kinds of pages in both themes, ${seconds(began)} s`);
  }

  /** The index is a file of the site, so a search needs no network once it is loaded. */
  async search() {
    const page = await this.#open({ viewport: DESKTOP });
    await page.goto(this.#home);
    const index = page.waitForEvent('requestfinished', (request) => /localSearchIndex/.test(request.url()));
    await page.getByRole('button', { name: 'Search' }).click();
    await index;
    await page.context().setOffline(true);
    await page.locator('#localsearch-input').fill(SEARCH.word);

    const result = page.locator(`.results a[href^="${BASE}${SEARCH.page}"]`).first();
    const isFound = await result.waitFor().then(
      () => true,
      () => false,
    );
    if (!isFound) this.problems.push(`the search for "${SEARCH.word}" does not find /${SEARCH.page}`);
    await page.context().close();
  }

  /** The files for language models name pages that exist, and have all of them. */
  async checkTexts() {
    const text = async (name) => (await fetch(this.#home + name)).text();
    const [list, full] = await Promise.all([text('llms.txt'), text('llms-full.txt')]);
    const links = [...list.matchAll(/\]\((\S+)\)/g)].map(([, href]) => href.replace(ADDRESS, this.#home));
    const answers = await Promise.all(links.map((href) => fetch(href)));
    links.forEach((href, i) => {
      if (!answers[i].ok) this.problems.push(`llms.txt: ${answers[i].status} for ${href}`);
    });
    for (const file of guideFiles()) {
      if (!list.includes(file.replace(/^docs\//, ''))) this.problems.push(`llms.txt: lacks ${file}`);
      const [heading] = readFileSync(join(root, file), 'utf8').match(/^# .+$/m);
      if (!full.includes(`${heading}\n`)) this.problems.push(`llms-full.txt: lacks ${file}`);
    }
  }

  /** @param {string[]} files of the built site */
  checkLinks(files) {
    for (const [path, { links, imports }] of this.pages) {
      for (const { href, text } of links) this.#checkLink(path, href, text);
      if (imports > 0 && !isCompiled(path))
        this.problems.push(`/${path}: a code block begins with an import, and no test compiles it`);
    }
    for (const file of files.filter((name) => name.endsWith('.html') && name !== '404.html')) {
      const path = file.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '');
      if (!this.pages.has(path)) this.problems.push(`/${path}: no link leads to this page`);
    }
    for (const path of this.pages.keys()) {
      const file = path === '' || path.endsWith('/') ? `${path}index.html` : `${path}.html`;
      if (!files.includes(file)) this.problems.push(`/${path}: a link leads to this page, and it does not exist`);
    }
    for (const { code } of readErrors())
      if (!this.pages.has(`errors/${code}`)) this.problems.push(`/errors/${code}: no such page`);
  }

  #checkLink(path, href, text) {
    const [target, anchor] = href.split('#');
    if (target.startsWith(this.#home)) {
      const page = this.pages.get(pathOf(target, this.#home));
      if (anchor && !page?.ids.includes(decodeURIComponent(anchor)))
        this.problems.push(`/${path}: no anchor ${href.slice(this.#home.length)} ("${text}")`);
      return;
    }
    const [, file] = target.match(new RegExp(`^${REPOSITORY}/(?:blob|tree)/main/(.*)$`)) ?? [];
    if (file !== undefined && !existsSync(join(root, file))) this.problems.push(`/${path}: no file ${file}`);
    if (file === undefined && !/^(https:\/\/|mailto:)/.test(target)) this.problems.push(`/${path}: link to ${href}`);
  }

  /** "Next" leads through the guides in the order of docs/README.md. */
  checkOrder() {
    const order = guideFiles().map((file) =>
      pageOf(file)
        .replace(/(^|\/)index\.md$/, '$1')
        .replace(/\.md$/, ''),
    );
    order.forEach((path, i) => {
      const next = this.pages.get(path)?.next;
      const expected = order[i + 1];
      if (expected !== undefined && next !== this.#home + expected)
        this.problems.push(`/${path}: expected /${expected} as the next page, got ${next}`);
    });
  }

  async #open(options) {
    const context = await this.#browser.newContext(options);
    // A limit for pages that hang.
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const report = (problem) => this.problems.push(`/${pathOf(page.url(), this.#home)}: ${problem}`);
    // Pages of the repository need no other host.
    await context.route(
      (url) => !url.href.startsWith(this.#home),
      (route) => {
        report(`request to ${route.request().url()}`);
        return route.abort();
      },
    );
    page.on('pageerror', ({ message }) => report(message));
    page.on('console', (message) => {
      const isMissingPage = message.text().includes('404') && page.url().endsWith(MISSING);
      if (['error', 'warning'].includes(message.type()) && !isMissingPage) report(message.text());
    });
    page.on('response', (response) => {
      if (response.status() >= 400 && !response.url().endsWith(MISSING))
        report(`status ${response.status()} for ${response.url()}`);
    });
    await page.addInitScript(AXE);
    return page;
  }
}

/** @typedef {{ links: { href: string, text: string }[], ids: string[], next?: string, tooWide: string[] }} PageContent */

/** Runs in the page. */
function readPage() {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const width = document.documentElement.clientWidth;
  const isTooWide = document.documentElement.scrollWidth > width;
  const wide = all('main *, .VPContent *').filter((each) => each.getBoundingClientRect().right > width + 1);
  return {
    links: all('a[href]').map((link) => ({ href: link.href, text: link.textContent.trim() })),
    ids: all('[id]').map(({ id }) => id),
    next: all('.pager-link.next')[0]?.href,
    titles: all('h1').length,
    imports: all('.language-ts code').filter((code) => code.textContent.startsWith('import ')).length,
    brokenImages: all('main img')
      .filter((image) => image.complete && image.naturalWidth === 0)
      .map((image) => image.src),
    tooWide: isTooWide
      ? [
          wide
            .slice(0, 3)
            .map((each) => each.outerHTML.slice(0, 120))
            .join(' | '),
        ]
      : [],
  };
}

async function seriousProblems(page, part = 'html', withColors = true) {
  const options = { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: withColors } } };
  const { violations } = await page.evaluate(([part, options]) => axe.run(part, options), [part, options]);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ html }) => html.slice(0, 160))
          .join(' | ')}`,
    );
}

/** test/guides/examples.spec.ts compiles the blocks of README.md, docs/, guides, recipes and doc comments. */
function isCompiled(path) {
  if (path === 'overview' || path === 'errors/' || path.startsWith('api/')) return true;
  return /^((guides|recipes)\/)?[\w-]+$/.test(path) && existsSync(join(root, `docs/${path}.md`));
}

function guideFiles() {
  return readOutline()
    .flatMap(({ entries }) => entries)
    .map(({ href }) => (href.includes('://') ? href.replace(`${REPOSITORY}/blob/main/`, '') : `docs/${href}`))
    .filter((file) => file.startsWith('docs/'));
}

function pathOf(url, home) {
  return url.slice(home.length).replace(/#.*$/, '');
}

async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((each) => each.isFile()).map((each) => relative(folder, join(each.parentPath, each.name)));
}

function seconds(began) {
  return Math.round((performance.now() - began) / 1000);
}
