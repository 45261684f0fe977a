import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** Nothing here keeps an order from being invoiced twice: that it never is, is the queue's doing. */
@Entity('sample_invoices')
export class Invoice {
  @PrimaryGeneratedColumn()
  number!: number;

  @Column({ name: 'order_id' })
  orderId!: number;

  /** In cents. */
  @Column()
  total!: number;
}
