import { Entity, PrimaryColumn } from 'typeorm';

@Entity('sample_tenants')
export class Tenant {
  @PrimaryColumn()
  name!: string;
}
