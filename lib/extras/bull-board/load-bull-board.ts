import type { createBullBoard } from '@bull-board/api';
import type { BaseAdapter } from '@bull-board/api/dist/queueAdapters/base.js';
import { InvalidOptionsError } from '../../job/errors.js';
import { PLACE } from './bull-board-options.js';

export interface BullBoardApi {
  readonly createBullBoard: typeof createBullBoard;
  readonly BaseAdapter: typeof BaseAdapter;
}

/** Loaded at the start of the application, so that the error of a missing package says how to install it. */
export async function loadBullBoard(): Promise<BullBoardApi> {
  try {
    const [api, base] = await Promise.all([
      // oxlint-disable-next-line no-restricted-imports
      import('@bull-board/api'),
      // The entry `@bull-board/api/baseAdapter` has types alone.
      // oxlint-disable-next-line no-restricted-imports
      import('@bull-board/api/dist/queueAdapters/base.js'),
    ]);
    return { createBullBoard: api.createBullBoard, BaseAdapter: base.BaseAdapter };
  } catch (error) {
    throw new InvalidOptionsError(PLACE, [
      `expected the package @bull-board/api 9.10 or newer, got none: npm install @bull-board/api @bull-board/ui ` +
        `(${(error as Error).message})`,
    ]);
  }
}
