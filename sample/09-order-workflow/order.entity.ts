import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity('sample_orders')
export class Order {
  @PrimaryColumn()
  id!: number;

  @Column()
  amount!: number;

  @Column({ type: 'varchar', length: 50, nullable: true })
  approvedBy!: string | null;
}

/** What a step has done for an order. The steps with a transaction write exactly one row for each order. */
@Entity('sample_order_log')
export class OrderLog {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  orderId!: number;

  @Column({ type: 'varchar', length: 50 })
  entry!: string;
}
