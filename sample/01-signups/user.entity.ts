import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Somebody who has signed up. */
@Entity('sample_users')
export class User {
  /** In lower case. As the primary key it is what keeps anybody from signing up twice, in any process. */
  @PrimaryColumn({ length: 254 })
  email!: string;

  @Column({ length: 100 })
  name!: string;

  @Column({ name: 'signed_up_at' })
  signedUpAt!: Date;
}
