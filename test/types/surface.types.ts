// Checked by `npm run typecheck`, never run: the runner has the verbs of an application, and none of the library's own.
import type { SqlQueueRunner } from 'nestjs-sql-queue';
import type { Equal, Expect } from './expect.js';

type Verbs =
  | 'state'
  | 'queues'
  | 'start'
  | 'handle'
  | 'setConcurrency'
  | 'declare'
  | 'pause'
  | 'resume'
  | 'quiet'
  | 'stop'
  | 'whenIdle';

export type Checks = [Expect<Equal<keyof SqlQueueRunner, Verbs>>];
