import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor, QueueProducer } from 'nestjs-sql-queue';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class Picture {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  file!: string;

  @Column({ type: 'simple-json', nullable: true })
  variants!: string[] | null;
}

/** For example sharp: `sharp(file).resize(width).toFile(target)`. */
export abstract class Resizer {
  /** Resolves with the file of the smaller picture. The same call writes the same file, so it may run twice. */
  abstract resize(file: string, width: number, signal: AbortSignal): Promise<string>;
}

@Injectable()
export class ImagePipeline {
  constructor(
    private readonly dataSource: DataSource,
    private readonly producer: QueueProducer,
    private readonly resizer: Resizer,
  ) {}

  async upload(file: string): Promise<number> {
    return this.dataSource.transaction(async (manager) => {
      const { id } = await manager.save(Picture, { file, variants: null });
      await this.producer.enqueue('picture.publish', { id, file }, { manager });
      return id;
    });
  }

  @QueueProcessor('picture.publish')
  async publish(job: JobContext<{ id: number; file: string }>): Promise<void> {
    const { id, file } = job.payload;
    const sizes = [320, 640, 1280].map((width) => ({ file, width }));
    // The handler leaves its slot here, and starts again when all sizes are there.
    await job.fanOut('picture.resize', sizes, { onFailure: 'cancel' });
    const variants: string[] = [];
    for await (const child of job.children<string>()) variants.push(String(child.result));
    await job.transaction((manager) => manager.update(Picture, id, { variants }));
  }

  /** Two at once in this process: they use the processor, not the database. */
  @QueueProcessor('picture.resize', { concurrency: 2, timeout: '2m', retry: 3 })
  resize(job: JobContext<{ file: string; width: number }>): Promise<string> {
    return this.resizer.resize(job.payload.file, job.payload.width, job.signal);
  }
}
