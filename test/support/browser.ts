import { chromium, type Browser } from 'playwright-core';

// As far as it is used here.
const CHROMIUM = '../../scripts/browser/chromium.mjs';

/** A real one, without windows. Whoever asks for it closes it; it ends with this process, too, however that ends. */
export async function openBrowser(): Promise<Browser> {
  const { findChromium } = (await import(CHROMIUM)) as { findChromium(): Promise<string> };
  return chromium.launch({
    executablePath: await findChromium(),
    // It shows pages of ours alone, and root has no sandbox.
    args: ['--no-sandbox', '--disable-gpu'],
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
  });
}
