import { Column, Entity, PrimaryColumn } from 'typeorm';

export type Region = 'eu' | 'us';

/** A person who has signed up. */
@Entity('sample_users')
export class User {
  @PrimaryColumn()
  id!: number;

  @Column()
  email!: string;

  @Column({ type: 'varchar' })
  region!: Region;
}
