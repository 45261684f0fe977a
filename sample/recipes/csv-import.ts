import { createReadStream } from 'node:fs';
import { Controller, Param, ParseIntPipe, Post, Query, Sse, type MessageEvent } from '@nestjs/common';
import { parse } from 'csv-parse';
import { JobContext, QueueProcessor, QueueProducer } from 'nestjs-sql-queue';
import { Observable } from 'rxjs';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

const BATCH = 500;

@Entity()
export class Customer {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  email!: string;
}

@Controller('imports')
export class CustomerImports {
  constructor(private readonly producer: QueueProducer) {}

  @Post()
  async start(@Query('file') file: string): Promise<{ id: number }> {
    const { id } = await this.producer.enqueue('customer.import', { file });
    return { id };
  }

  /** In the browser: `new EventSource('/imports/7').onmessage = ({ data }) => …`. */
  @Sse(':id')
  progress(@Param('id', ParseIntPipe) id: number): Observable<MessageEvent> {
    return new Observable((subscriber) => {
      const left = new AbortController();
      const onProgress = (value: unknown) => subscriber.next({ data: { rows: value } });
      this.producer
        .waitFor<number>(id, { onProgress, signal: left.signal })
        .then((rows) => subscriber.next({ type: 'end', data: { rows } }))
        .catch((error: Error) => subscriber.next({ type: 'end', data: { error: error.message } }))
        .finally(() => subscriber.complete());
      return () => left.abort();
    });
  }

  @QueueProcessor('customer.import', { retry: 3, retention: { completed: '1d' } })
  async import(job: JobContext<{ file: string }>): Promise<number> {
    let rows = 0;
    const batch: { email: string }[] = [];
    // Each batch is inserted exactly once: a step and its rows commit together, and the next run skips it.
    const flush = async () => {
      const values = batch.splice(0);
      await job.step(`rows-${rows}`, { transaction: true }, async (manager) => {
        await manager.insert(Customer, values);
      });
      rows += values.length;
      job.progress(rows);
    };
    for await (const row of createReadStream(job.payload.file).pipe(parse({ columns: true }))) {
      batch.push({ email: (row as { email: string }).email || failAt(rows + batch.length) });
      if (batch.length === BATCH) await flush();
    }
    if (batch.length > 0) await flush();
    return rows;
  }
}

function failAt(row: number): never {
  throw new Error(`row ${row + 1} has no email`);
}
