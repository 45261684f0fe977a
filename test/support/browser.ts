import { chromium, type Browser } from 'playwright-core';

// The parts of the module that the tests use.
const CHROMIUM = '../../scripts/browser/chromium.mjs';

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
