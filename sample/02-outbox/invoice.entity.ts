import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** The table has no unique index on the order: only the queue prevents a second invoice. */
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
