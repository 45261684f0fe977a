import type { Browser, BrowserContextOptions } from 'playwright-core';
import { openBrowser } from '../../support/browser.js';
import { startBoard, type BoardApp, type BoardAppOptions } from './board-app.js';
import { BoardWindow } from './board-page.js';

export interface BoardWithWindows extends BoardApp {
  /** Opens a page of the board in a window of its own; undefined: an empty window. */
  board(hash: string | undefined, options?: BrowserContextOptions): Promise<BoardWindow>;
}

/**
 * A browser for the tests of a file. After each test its windows close, and the test fails if one of them had a problem.
 * A failed test prints what they show.
 * Downloads the browser once if the machine has none.
 */
export function useBrowser(): { start(options?: BoardAppOptions): Promise<BoardWithWindows> } {
  let browser: Browser;
  const windows: BoardWindow[] = [];

  beforeAll(async () => {
    browser = await openBrowser();
  });

  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') for (const window of windows) console.log(await window.describe());
    const problems = windows.flatMap((window) => window.problems);
    for (const window of windows.splice(0)) await window.close();
    expect(problems).toEqual([]);
  });

  afterAll(() => browser?.close());

  return {
    start: async (options = {}) => {
      const app = await startBoard({ ...options, board: { refresh: '1s', ...options.board } });
      const board = async (hash: string | undefined, context?: BrowserContextOptions) => {
        const window = await BoardWindow.open(browser, app.url, hash, context);
        windows.push(window);
        return window;
      };
      return { ...app, board };
    },
  };
}
