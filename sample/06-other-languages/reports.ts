import { Injectable } from '@nestjs/common';
import { JobContext, OnQueueEvent, QueueProcessor, type QueueEvent } from 'nestjs-sql-queue';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'text.count': { payload: { text: string } };
    'report.write': { payload: { of: number; words: number }; result: number };
  }
}

/** The Nest side: it prints the word counts of the Python side. */
@Injectable()
export class Reports {
  @QueueProcessor('report.write')
  write({ payload, headers }: JobContext<{ of: number; words: number }>) {
    console.log(`nest:   job ${payload.of} has ${payload.words} words, says ${headers['from']}`);
    return payload.words;
  }

  @OnQueueEvent('rescued')
  rescued({ jobId, queue }: QueueEvent) {
    console.log(`nest:   rescued job ${jobId} of ${queue}`);
  }
}
