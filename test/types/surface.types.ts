// Checked by `npm run typecheck`, never run: the runner has the verbs for applications, and no internal verb.
import type { SqlQueueRunner } from 'nestjs-sql-queue';
import type { Equal, Expect } from './expect.js';

type Verbs =
  | 'state'
  | 'queues'
  | 'occupancy'
  | 'health'
  | 'start'
  | 'handle'
  | 'setConcurrency'
  | 'declare'
  | 'isPaused'
  | 'pause'
  | 'resume'
  | 'quiet'
  | 'stop'
  | 'whenIdle';

export type Checks = [Expect<Equal<keyof SqlQueueRunner, Verbs>>];
