export { SqlQueueBoardModule } from './board.module.js';
export type { BoardAsyncOptions, BoardOptions, BoardRequest, BoardStaticOptions } from './board-options.js';
export type { BoardVerb, BoardWriteVerb } from './board-verbs.js';
export type { Redact, RedactContext } from '../dashboard/redactor.js';
