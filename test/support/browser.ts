import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

// The parts of the module that the tests use.
const CHROMIUM = '../../scripts/browser/chromium.mjs';

// Less than a test may take, so that the error names the element that is missing.
const TIMEOUT_MS = 240_000;

/** A headless Chromium. The caller closes it, and it ends with this process in any case. */
export async function openBrowser(): Promise<Browser> {
  const { findChromium } = (await import(CHROMIUM)) as { findChromium(): Promise<string> };
  return chromium.launch({
    executablePath: await findChromium(),
    // Root has no sandbox, and the browser shows only pages of the samples.
    args: ['--no-sandbox', '--disable-gpu'],
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
  });
}

/** An empty page in a context of its own. Its waits are as long as slow machines need. */
export async function openPage(browser: Browser, options?: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(TIMEOUT_MS);
  return context.newPage();
}
