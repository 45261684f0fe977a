import { Body, Controller, Param, ParseIntPipe, Post } from '@nestjs/common';
import { JobContext, QueueProcessor, QueueProducer } from 'nestjs-sql-queue';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class Expense {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  amount!: number;

  @Column({ default: 'open' })
  state!: string;
}

@Controller('expenses')
export class Expenses {
  constructor(
    private readonly dataSource: DataSource,
    private readonly producer: QueueProducer,
  ) {}

  @Post()
  async submit(@Body('amount') amount: number): Promise<{ id: number }> {
    return this.dataSource.transaction(async (manager) => {
      const { id } = await manager.save(Expense, { amount });
      await this.producer.enqueue('expense.decide', { id, amount }, { manager });
      await this.producer.enqueue('expense.remind', { id }, { manager, delay: '3d' });
      return { id };
    });
  }

  /** Behind a guard of your own. The decision and its signal commit together. */
  @Post(':id/decision')
  async decide(@Param('id', ParseIntPipe) id: number, @Body('state') state: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.update(Expense, { id, state: 'open' }, { state });
      await this.producer.signal('decision', `expense:${id}`, { state }, { manager });
    });
  }

  /** Waits without a slot and without a process: deployments and restarts do not matter. */
  @QueueProcessor('expense.decide')
  async process(job: JobContext<{ id: number; amount: number }>): Promise<string> {
    const { id, amount } = job.payload;
    await job.step('ask', () => this.notify(`please decide about ${amount}`));
    const decision = await job.waitFor<{ state: string }>('decision', { key: `expense:${id}`, timeout: '7d' });
    if (decision?.state !== 'approved') return decision?.state ?? 'expired';
    await job.step('pay', () => this.notify(`pay ${amount}, reference ${job.stepKey('pay')}`));
    return 'paid';
  }

  @QueueProcessor('expense.remind')
  async remind(job: JobContext<{ id: number }>): Promise<void> {
    const expense = await this.dataSource.manager.findOneBy(Expense, { id: job.payload.id, state: 'open' });
    if (expense) await this.notify(`still open: ${expense.amount}`);
  }

  /** Sends a mail in your application. */
  notify(text: string): Promise<string> {
    return Promise.resolve(text);
  }
}
