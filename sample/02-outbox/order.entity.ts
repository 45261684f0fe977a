import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What somebody has bought. */
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
