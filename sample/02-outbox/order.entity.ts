import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An order of a customer. */
@Entity('sample_orders')
export class Order {
  @PrimaryColumn()
  id!: number;

  @Column({ length: 100 })
  customer!: string;

  /** In cents. */
  @Column()
  total!: number;
}
