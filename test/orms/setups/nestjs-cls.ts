import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClsPluginTransactional } from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { QueueProducer } from 'nestjs-sql-queue';
import { ClsModule } from 'nestjs-cls';
import { DataSource } from 'typeorm';
import { Signups } from '../build/nestjs-cls.js';
import type { Connect } from './world.js';

export const connect: Connect = async ({ dataSource, producer }) => {
  @Global()
  @Module({ providers: [{ provide: DataSource, useValue: dataSource }], exports: [DataSource] })
  class DatabaseModule {}

  const adapter = new TransactionalAdapterTypeOrm({ dataSourceToken: DataSource });
  const plugins = [new ClsPluginTransactional({ imports: [DatabaseModule], adapter })];

  @Module({
    imports: [ClsModule.forRoot({ plugins })],
    providers: [Signups, { provide: QueueProducer, useValue: producer }],
  })
  class AppModule {}

  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const signups = app.get(Signups);
  return { signUp: (email) => signups.signUp(email), close: () => app.close() };
};
