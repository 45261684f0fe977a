import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A person who has signed up. */
@Entity('sample_users')
export class User {
  /** In lower case. As the primary key it prevents a second sign-up, in any process. */
  @PrimaryColumn({ length: 254 })
  email!: string;

  @Column({ length: 100 })
  name!: string;

  @Column({ name: 'signed_up_at' })
  signedUpAt!: Date;
}
