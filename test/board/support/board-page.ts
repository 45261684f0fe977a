import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { openPage } from '../../support/browser.js';

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
    const page = await openPage(browser, options);
    const opened = new BoardWindow(page, url);
    if (hash !== undefined) {
      await opened.go(hash);
      await opened.connection('live').waitFor();
    }
    return opened;
  }

  /** Opens a page of the board, such as `queue?queue=email`, and waits until it shows its content. */
  async go(hash: string): Promise<void> {
    await this.page.goto(`${this.url}#/${hash}`);
    await this.page.locator(`main[data-view="#/${hash}"] h1`).waitFor({ state: 'attached' });
    await this.page.locator('main .skeleton').first().waitFor({ state: 'detached' });
  }

  /** What the page says about its connection, in this state. */
  connection(state: 'live' | 'polling' | 'paused'): Locator {
    return this.page.locator(`.live[data-state=${state}]:visible`);
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** Opens the menu of further actions, and presses one. */
  async pressMore(name: string, menu = 'More actions'): Promise<void> {
    await this.button(menu).click();
    await this.button(name).click();
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
    const message = this.page.locator('#result').getByText(text).last();
    await message.waitFor();
    return message.innerText();
  }

  async allBodies(): Promise<string> {
    await Promise.all(this.#reading);
    return this.bodies.join('\n');
  }

  /** What the window shows, and the last answers that it got. */
  async describe(): Promise<string> {
    const text = await this.page.locator('body').innerText({ timeout: 5_000 }).catch(String);
    const answers = this.bodies.slice(-8).map((body) => body.slice(0, 500));
    return [`The window shows ${this.page.url()}:`, text, 'Its last answers:', ...answers].join('\n');
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
