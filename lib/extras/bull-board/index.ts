export { SqlQueueBullBoardModule } from './bull-board.module.js';
export type {
  BullBoardMiddleware,
  BullBoardOptions,
  BullBoardRequest,
  BullBoardServerAdapter,
} from './bull-board-options.js';
export type { Redact, RedactContext } from '../dashboard/redactor.js';
