import type { Browser, Locator, Page } from 'playwright-core';
import { openPage } from '../support/browser.js';
import { gate } from '../support/engines.js';

const SECTIONS = {
  waiting: 'Unassigned',
  taken: 'Assigned',
  review: 'Pending review',
  putOff: 'Put off until tomorrow',
  finished: 'Finished',
};

type List = keyof typeof SECTIONS;

/** The page of sample/04-people from the view of a person. */
export class PhotoPage {
  /** The uncaught errors of its script. */
  readonly errors: string[] = [];

  private constructor(private readonly page: Page) {
    page.on('pageerror', ({ message }) => this.errors.push(message));
  }

  /** Opens the page in a window of its own. */
  static async open(browser: Browser, url: string, person: string): Promise<PhotoPage> {
    const page = await openPage(browser);
    const opened = new PhotoPage(page);
    await page.goto(url);
    await page.getByLabel('I am').fill(person);
    return opened;
  }

  async add(title: string): Promise<void> {
    await this.page.getByPlaceholder('Another photo').fill(title);
    await this.page.getByRole('button', { name: 'Add', exact: true }).click();
  }

  async takeNext(): Promise<void> {
    await this.page.getByRole('button', { name: 'Take the next one' }).click();
  }

  async press(button: string, title: string): Promise<void> {
    await this.#lines().filter({ hasText: title }).getByRole('button', { name: button, exact: true }).click();
  }

  /** Resolves with the buttons of the line as soon as the list shows it. */
  async untilShown(list: List, line: string): Promise<string[]> {
    const shown = this.#lines(list).filter({ has: this.page.getByText(line, { exact: true }) });
    await shown.waitFor();
    return shown.getByRole('button').allInnerTexts();
  }

  /** Resolves with the status as soon as there is one. */
  async untilStatus(): Promise<string> {
    return this.page.getByRole('status').filter({ hasText: /./ }).innerText();
  }

  /** The lines of all lists that are not empty. */
  async lists(): Promise<Partial<Record<List, string[]>>> {
    const shown: Partial<Record<List, string[]>> = {};
    for (const list of Object.keys(SECTIONS) as List[]) {
      const lines = await this.#lines(list).locator('span').allInnerTexts();
      if (lines.length > 0) shown[list] = lines;
    }
    return shown;
  }

  /** Delays updates until the returned function is called. */
  async pauseUpdates(): Promise<() => void> {
    const { open, opened } = gate();
    await this.page.route('**/tasks', (route) => opened.then(() => route.continue()));
    return open;
  }

  #lines(list?: List): Locator {
    const heading = list && this.page.getByRole('heading', { name: SECTIONS[list], exact: true });
    return this.page.locator('section', heading && { has: heading }).getByRole('listitem');
  }
}
