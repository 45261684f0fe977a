// Checked by `npm run typecheck`, never run: the runner has the verbs for applications, and no internal verb.
import type { SqlQueueRunner } from 'nestjs-sql-queue';
import type { Equal, Expect } from './expect.js';

type Verbs =
  | 'state'
  | 'queues'
  | 'health'
  | 'occupancy'
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
