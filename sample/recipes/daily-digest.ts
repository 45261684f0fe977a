import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor, QueueProducer, QueueSchedules } from 'nestjs-sql-queue';
import { Column, DataSource, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class Reader {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  email!: string;

  @Index()
  @Column()
  timeZone!: string;
}

@Injectable()
export class DailyDigest {
  constructor(
    private readonly dataSource: DataSource,
    private readonly producer: QueueProducer,
    private readonly schedules: QueueSchedules,
  ) {}

  /** One schedule for each time zone, not for each reader. It follows the changes of the clocks. */
  async join(email: string, timeZone: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.insert(Reader, { email, timeZone });
      const schedule = { queue: 'digest.zone', cron: '0 7 * * *', tz: timeZone, payload: { timeZone } };
      await this.schedules.upsert(`digest.${timeZone.replaceAll(/[/+]/g, '.')}`, schedule, { manager });
    });
  }

  /** The mails and the end of this job commit together: a crash sends none of them twice. */
  @QueueProcessor('digest.zone')
  async zone(job: JobContext<{ timeZone: string }>): Promise<void> {
    await job.transaction(async (manager) => {
      const readers = await manager.findBy(Reader, { timeZone: job.payload.timeZone });
      const day = job.schedule?.at ?? new Date();
      const mails = readers.map(({ email }) => ({ payload: { to: email, day } }));
      await this.producer.enqueueMany('digest.mail', mails, { manager });
    });
  }

  @QueueProcessor('digest.mail', { concurrency: 5, retry: 8 })
  async mail(job: JobContext<{ to: string; day: string }>): Promise<string> {
    const { to, day } = job.payload;
    return `digest of ${day} for ${to}`; // send it here, with job.id as the message id
  }
}
