import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

/** A window with the board. Records everything that must not happen. */
export class BoardWindow {
  /** Uncaught errors, messages of the console, violations of the policy, and dialogs of scripts. */
  readonly problems: string[] = [];
  /** The bodies of all answers. */
  readonly bodies: string[] = [];
  readonly #reading: Promise<unknown>[] = [];

  private constructor(
    readonly page: Page,
    private readonly url: string,
  ) {
    page.on('pageerror', ({ message }) => this.problems.push(message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.problems.push(message.text());
    });
    page.on('dialog', (dialog) => {
      this.problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('response', (response) => {
      // A stream has no end.
      if (response.url().endsWith('/live')) return;
      this.#reading.push(
        response.text().then(
          (text) => this.bodies.push(text),
          () => undefined,
        ),
      );
    });
  }

  /** @param hash undefined: the window is empty */
  static async open(
    browser: Browser,
    url: string,
    hash: string | undefined,
    options: BrowserContextOptions = {},
  ): Promise<BoardWindow> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const opened = new BoardWindow(page, url);
    if (hash !== undefined) {
      await opened.go(hash);
      // The first update replaces the content.
      await page.locator('#connection[data-state=live]').waitFor();
    }
    return opened;
  }

  /** Opens a page of the board, such as `queue?queue=email`, and waits until it shows its content. */
  async go(hash: string): Promise<void> {
    const target = `${this.url}#/${hash}`;
    // Without a reload the content of the last page stays for a moment.
    if (this.page.url() !== target) await this.page.evaluate(`document.querySelector('h1')?.setAttribute('left', '')`);
    await this.page.goto(target);
    await this.page.locator('h1:not([left])').waitFor({ state: 'attached' });
    await this.page.locator('main .page > *').first().waitFor({ state: 'attached' });
    await this.page.getByText('Loading', { exact: true }).waitFor({ state: 'detached' });
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  row(text: string): Locator {
    return this.page.getByRole('row').filter({ hasText: text });
  }

  /** Presses a button of the open dialog. */
  async confirm(name: string): Promise<void> {
    await this.page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  }

  /** Resolves when the board announces a result with this text. */
  async announced(text: string | RegExp): Promise<string> {
    const message = this.page.locator('#result').getByText(text);
    await message.waitFor();
    return message.innerText();
  }

  async allBodies(): Promise<string> {
    await Promise.all(this.#reading);
    return this.bodies.join('\n');
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
